"""Systems on datasets: their predictions scored by the papers' protocols."""
