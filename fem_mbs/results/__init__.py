"""Results of a run: the table of histories, files, plots and pictures."""
