"""Small motions about a state as engineers use them: state space, frequency response, Floquet multipliers."""
