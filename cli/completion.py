"""``eyecast completion``: scripts for shell completion."""

import click
from click.shell_completion import get_completion_class

from ..model.base.errors import InvalidInput, one_of
from .command import command
from .options.values import complete_words

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_EYECAST_COMPLETE"
"""Environment variable by which the shell's script asks for completions."""


@command(
    "completion",
    'eval "$(eyecast completion bash)"',
    "eyecast completion fish | source",
)
@click.argument("shell", metavar="|".join(SHELLS), shell_complete=complete_words(SHELLS))
def completion_command(shell: str) -> None:
    """Print the script with which a shell completes commands, options and some of their values.

    \b
    bash    eval "$(eyecast completion bash)"        in ~/.bashrc
    zsh     eval "$(eyecast completion zsh)"         in ~/.zshrc, after compinit
    fish    eyecast completion fish | source         in ~/.config/fish/config.fish
    """  # noqa: D301 - click wants the control character itself
    from .main import cli

    completion = get_completion_class(shell)
    if shell not in SHELLS or completion is None:
        raise InvalidInput.of("shell", one_of(SHELLS), shell)
    click.echo(completion(cli, {}, "eyecast", VARIABLE).source())
