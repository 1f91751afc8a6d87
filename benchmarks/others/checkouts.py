"""Checkouts of programs of others at their pinned commits, with made data in them."""

import subprocess

import made_data


def source(repository, sources):
    """Where git finds a repository: among the clones that are there, or at its owner's."""
    owner, name = repository.split("/")
    places = (
        [sources / f"{owner}+{name}" / end for end in ("repo/.git", "repo", "")] if sources else []
    )
    for place in places:
        if (place / "HEAD").exists() or (place / ".git").exists():
            return place
    return f"https://github.com/{repository}"


def check_out(program, folder, sources):
    """Lay the program's repository into the folder, and make its data."""
    clone = ["git", "clone", "-q", "--no-checkout", source(program["repository"], sources), folder]
    subprocess.run(clone, check=True)
    # Texts that made data stand in for are left out: they may be large, and are not to be mixed
    # with them.
    left_out = "".join(f"!/{place}/*.txt\n" for place in program.get("data", {}))
    (folder / ".git" / "info" / "sparse-checkout").write_text(f"/*\n{left_out}")
    options = ["-c", "core.sparseCheckout=true", "-c", "core.sparseCheckoutCone=false"]
    git = ["git", "-C", folder, *options]
    subprocess.run([*git, "checkout", "-q", program["commit"]], check=True)
    made_data.make(folder, program.get("data", {}))
