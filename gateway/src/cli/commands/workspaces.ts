import type { ControlStore, StoredWorkspace } from "#directory/index.ts";
import { type CliCommand, everyItem, table } from "../cli-command.ts";
import { auditSource } from "../open.ts";
import { CommandFailed } from "../terminal.ts";

export function addWorkspaces(program: CliCommand): void {
  const workspace = program.command("workspace").description("create and list workspaces");
  workspace
    .command("list")
    .description("list workspaces and their groups")
    .onControl(async ({ controlStore }) => {
      const workspaces: Awaited<ReturnType<typeof workspaceView>>[] = [];
      for (const each of await everyItem((cursor) => controlStore.workspaces({ ids: null }, cursor, 200))) {
        workspaces.push(await workspaceView(controlStore, each));
      }
      const rows = workspaces.map(({ slug, name, groups, keys, managed_by }) => [
        ...[slug, name, groups.join(", "), String(keys), managed_by],
      ]);
      return [{ workspaces }, table(["SLUG", "NAME", "GROUPS", "KEYS", "MANAGED BY"], rows, "no workspaces")];
    });
  workspace
    .command("webhook-secret")
    .description("show the secret for verifying webhooks of a workspace")
    .argument("<slug>", "the workspace")
    .onControl(async ({ controlStore, vault }, slug: string) => {
      const { id } = await workspaceNamed(controlStore, slug);
      const { webhookSecretOf } = await import("#main.ts");
      const secret = webhookSecretOf(vault, id);
      return [{ slug, secret }, [secret]];
    });
  workspace
    .command("create")
    .description("create a workspace with a group named default")
    .argument("<slug>", "lower-case letters, digits and dashes")
    .option("--name <name>", "display name (default: the slug)")
    .onControl(async ({ controlStore }, slug: string, { name }: { readonly name?: string }) => {
      const made = await controlStore.addWorkspace({ slug, name }, auditSource);
      return [await workspaceView(controlStore, made), [`created workspace ${slug} (${made.id})`]];
    });
}

/** As printed with `--json`. `keys`: how many are not revoked. */
async function workspaceView(store: ControlStore, { id, slug, name, keys, managed_by }: StoredWorkspace) {
  const groups = await store.groups(id);
  return { id, slug, name, groups: groups.map((group) => group.name), keys, managed_by };
}

export async function workspaceNamed(
  store: Pick<ControlStore, "workspaceNamed">,
  slug: string,
): Promise<StoredWorkspace> {
  const found = await store.workspaceNamed(slug);
  if (found === null)
    throw new CommandFailed(`there is no workspace ${JSON.stringify(slug)}; see \`sluice workspace list\``);
  return found;
}
