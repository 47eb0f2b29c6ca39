import type { Command } from "commander";
import { withControl } from "../open.ts";
import { columns, report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addProviderList(provider: Command, terminal: Terminal): void {
  provider
    .command("list")
    .description("list providers, without their secrets")
    .action(async (_options: object, command: Command) => {
      const configSnapshot = await withControl(terminal.variables, ({ controlStore }) => controlStore.configSnapshot());
      const providers = [...configSnapshot.providers.values()].map(({ id, kind, baseUrl, enabled }) => ({
        ...{ id, kind, base_url: baseUrl, enabled },
        models: [...configSnapshot.models.values()]
          .filter(({ deployments }) => deployments.some((deployment) => deployment.provider.id === id))
          .map(({ name }) => name),
      }));
      const rows = providers.map(({ id, kind, base_url, enabled, models }) => [
        ...[id, kind, base_url, enabled ? "enabled" : "disabled", String(models.length)],
      ]);
      await report(
        terminal,
        command,
        { providers },
        providers.length === 0 ? ["no providers"] : columns([["ID", "KIND", "ADDRESS", "STATE", "MODELS"], ...rows]),
      );
    });
}
