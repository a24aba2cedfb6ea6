"""`attn config`."""

from __future__ import annotations

import click

from attncli import config as configuration
from attncli.commands.session import session
from attncli.commands.shared.stdout import echo


@click.command()
@click.argument("key", required=False)
@click.argument("value", required=False)
def config(key: str | None, value: str | None) -> None:
    """Read or set a setting; without KEY, list them all."""
    current = session()
    if key is None:
        for name in configuration.KEYS:
            echo(f"{name} = {current.settings.text(name)}")
        return
    if key.startswith(configuration.PER_TOPIC):
        from attncli.practice.settings import with_topics_named

        with current.workspace() as workspace:
            key, named = with_topics_named(workspace, key, value or "")
        value = None if value is None else named
    if value is None:
        echo(current.settings.text(configuration.known_key(key)))
    else:
        configuration.save(current.home.config, key, value, current.clock().astimezone().date())
        kept = configuration.load(current.home.config, {}).text(key)
        echo(f"{key} = {kept if value else value}")
