import type { ConsoleGuardrail } from "@sluice/contract";
import { meets, type Need } from "@sluice/contract/words";
import { orNotFound, type Workspace, withoutUndefined } from "#core/index.ts";
import type { GuardrailDraft, GuardrailRecord } from "#directory/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { applier, type Handlers } from "./calls.ts";

interface Viewer {
  readonly held: Need;
  /** null: the installation. */
  readonly workspace: Workspace | null;
}

export function guardrailHandlers(dependencies: ConsoleDependencies) {
  const { controlStore } = dependencies;
  const applied = applier(dependencies);
  const visible = async (viewer: Viewer): Promise<readonly ConsoleGuardrail[]> => {
    const { workspace } = viewer;
    const own = await controlStore.guardrails(workspace?.id ?? null);
    const inherited = workspace === null ? [] : await controlStore.inheritedGuardrails(workspace.id);
    return [...inherited, ...own].map((guardrail) => guardrailView(viewer, guardrail));
  };
  return {
    "guardrails.list": async (call) => ({ data: await visible(call), next: null }),
    "guardrails.show": async (call) => {
      const found = (await visible(call)).find(({ id }) => id === call.params.guardrail);
      return orNotFound(found ?? null, "guardrail");
    },
    "guardrails.create": async (call) => {
      const home = call.workspace?.id ?? null;
      return guardrailView(call, await applied(controlStore.createGuardrail(home, call.body, call.auditSource)));
    },
    "guardrails.update": async (call) => {
      const home = call.workspace?.id ?? null;
      const change: Partial<GuardrailDraft> = withoutUndefined(call.body);
      const updated = controlStore.updateGuardrail(home, call.params.guardrail, change, call.auditSource);
      return guardrailView(call, await applied(updated));
    },
    "guardrails.remove": ({ workspace, params, auditSource }) =>
      applied(controlStore.removeGuardrail(workspace?.id ?? null, params.guardrail, auditSource)),
  } satisfies Partial<Handlers>;
}

function guardrailView({ held, workspace }: Viewer, guardrail: GuardrailRecord): ConsoleGuardrail {
  const { workspaceId, check, ...fields } = guardrail;
  const inherited = workspaceId === null && workspace !== null;
  return {
    ...fields,
    workspace: workspaceId === null || workspace === null ? null : { id: workspace.id, slug: workspace.slug },
    inherited,
    all_calls: fields.workspaces.length + fields.groups.length + fields.keys.length === 0,
    kind: check.kind,
    check: meets(held, "admin") ? shownCheck(check, inherited && held !== "administrator") : null,
  };
}

/** `hostOnly`: the path of a webhook's URL may be a secret of the installation. */
function shownCheck(check: GuardrailRecord["check"], hostOnly: boolean): GuardrailRecord["check"] {
  return check.kind === "webhook" && hostOnly ? { ...check, url: new URL(check.url).origin } : check;
}
