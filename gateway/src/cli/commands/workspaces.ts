import type { Command } from "commander";
import type { ControlStore, StoredWorkspace } from "#directory/index.ts";
import { CommandFailed } from "../command-failed.ts";
import { auditSource, withControl } from "../open.ts";
import { columns, report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addWorkspaces(program: Command, terminal: Terminal): void {
  const workspace = program.command("workspace").description("create and list workspaces");
  addWorkspaceList(workspace, terminal);
  addWorkspaceWebhookSecret(workspace, terminal);
  addWorkspaceCreate(workspace, terminal);
}

function addWorkspaceList(workspace: Command, terminal: Terminal): void {
  workspace
    .command("list")
    .description("show workspaces and their groups")
    .action(async (_options: object, command: Command) => {
      const workspaces = await withControl(terminal.variables, async ({ controlStore }) => {
        const views: Awaited<ReturnType<typeof workspaceView>>[] = [];
        for (const each of await everyWorkspace(controlStore)) views.push(await workspaceView(controlStore, each));
        return views;
      });
      const rows = workspaces.map(({ slug, name, groups, keys, managed_by }) => [
        slug,
        name,
        groups.join(", "),
        String(keys),
        managed_by,
      ]);
      const lines =
        rows.length === 0 ? ["no workspaces"] : columns([["SLUG", "NAME", "GROUPS", "KEYS", "MANAGED BY"], ...rows]);
      await report(terminal, command, { workspaces }, lines);
    });
}

function addWorkspaceCreate(workspace: Command, terminal: Terminal): void {
  workspace
    .command("create")
    .description("make a workspace with a group called default")
    .argument("<slug>", "lower-case letters, digits and dashes")
    .option("--name <name>", "how people call it (default: the slug)")
    .action(async (slug: string, options: { readonly name?: string }, command: Command) => {
      const made = await withControl(terminal.variables, async ({ controlStore }) => {
        const workspace = await controlStore.addWorkspace({ slug, name: options.name }, auditSource);
        return await workspaceView(controlStore, workspace);
      });
      await report(terminal, command, made, [`made workspace ${slug} (${made.id})`]);
    });
}

function addWorkspaceWebhookSecret(workspace: Command, terminal: Terminal): void {
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

/** A workspace as `--json` shows it, with the names of its groups. `keys`: how many are not revoked. */
async function workspaceView(store: Pick<ControlStore, "groups">, workspace: StoredWorkspace) {
  const groups = await store.groups(workspace.id);
  return {
    id: workspace.id,
    slug: workspace.slug,
    name: workspace.name,
    groups: groups.map(({ name }) => name),
    keys: workspace.keys,
    managed_by: workspace.managed_by,
  };
}

/** The workspace that an option or argument names by its slug. */
export async function workspaceNamed(
  store: Pick<ControlStore, "workspaceNamed">,
  slug: string,
): Promise<StoredWorkspace> {
  const found = await store.workspaceNamed(slug);
  if (found === null)
    throw new CommandFailed(`there is no workspace ${JSON.stringify(slug)}; see \`sluice workspace list\``);
  return found;
}

/** Every workspace, by slug. */
async function everyWorkspace(store: Pick<ControlStore, "workspaces">): Promise<readonly StoredWorkspace[]> {
  const found: StoredWorkspace[] = [];
  let cursor: string | null = null;
  do {
    const page = await store.workspaces({ ids: null }, cursor, 200);
    found.push(...page.data);
    cursor = page.next;
  } while (cursor !== null);
  return found;
}
