"""The tables, figures and claims of each paper, as items: the printed value beside ours."""
