import type { Command } from "commander";
import { withControl } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { workspaceNamed } from "../workspace-named.ts";

export function addWorkspaceWebhookSecret(workspace: Command, terminal: Terminal): void {
  workspace
    .command("webhook-secret")
    .description("show what a workspace checks our messages about its tasks with")
    .argument("<slug>", "the workspace")
    .action(async (slug: string, _options: object, command: Command) => {
      const secret = await withControl(terminal.variables, async ({ controlStore, vault }) => {
        const found = await workspaceNamed(controlStore, slug);
        const { webhookSecretOf } = await import("#main.ts");
        return webhookSecretOf(vault, found.id);
      });
      await report(terminal, command, { slug, secret }, [secret]);
    });
}
