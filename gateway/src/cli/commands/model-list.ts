import type { Command } from "commander";
import { withControl } from "../open.ts";
import { columns, report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addModelList(model: Command, terminal: Terminal): void {
  model
    .command("list")
    .description("list models, where they are served, and whether they have a price")
    .action(async (_options: object, command: Command) => {
      const configSnapshot = await withControl(terminal.variables, ({ controlStore }) => controlStore.configSnapshot());
      const models = [...configSnapshot.models.values()].map(({ name, type, deployments, fallbacks, price }) => ({
        ...{ name, type, fallbacks, has_price: price !== null },
        deployments: deployments.map(({ id, provider, upstreamModel, enabled }) => ({
          ...{ id, provider: provider.id, upstream_model: upstreamModel, enabled: enabled && provider.enabled },
        })),
      }));
      const rows = models.map(({ name, type, has_price, deployments, fallbacks }) => [
        ...[name, type, has_price ? "yes" : "no"],
        deployments.map(({ provider, enabled }) => (enabled ? provider : `${provider} (disabled)`)).join(", "),
        fallbacks.join(", "),
      ]);
      await report(
        terminal,
        command,
        { models },
        models.length === 0 ? ["no models"] : columns([["NAME", "TYPE", "PRICE", "PROVIDERS", "FALLBACKS"], ...rows]),
      );
    });
}
