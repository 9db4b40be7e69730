"""Drawing of results: skins, scenes, pictures, plots and interactive views."""
