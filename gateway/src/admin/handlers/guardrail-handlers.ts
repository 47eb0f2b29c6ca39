import type { ConsoleGuardrail, GuardrailTestResult } from "@sluice/contract";
import { guardrailTestFindingsMax } from "@sluice/contract/console";
import { meets, type Need } from "@sluice/contract/words";
import {
  type Finding,
  type GuardrailCheck,
  invalidRequest,
  orNotFound,
  type Workspace,
  withoutUndefined,
} from "#core/index.ts";
import { type GuardrailDraft, type GuardrailRecord, usableCheck } from "#directory/index.ts";
import { createDetector } from "#guardrails/index.ts";
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
    "guardrails.test": async (call) => {
      const { text, check: sent, guardrail: id } = call.body;
      if ((sent === undefined) === (id === undefined)) throw invalidRequest("check", "Set `check` or `guardrail`.");
      const stored = id === undefined ? null : (await visible(call)).find((each) => each.id === id);
      const wanted = sent ?? orNotFound(stored ?? null, "guardrail").check;
      return tryCheck(text, usableCheck(orNotFound(wanted, "guardrail")));
    },
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

function tryCheck(text: string, check: GuardrailCheck): GuardrailTestResult {
  if (check.kind === "moderation" || check.kind === "classifier" || check.kind === "webhook") {
    throw invalidRequest("check.kind", "Only checks that the gateway does itself can be tried.");
  }
  const found = createDetector(check).find(text);
  return {
    findings: found.slice(0, guardrailTestFindingsMax),
    total: found.length,
    masked: maskedText(text, found),
  };
}

/** Equal values have equal placeholders. */
function maskedText(text: string, findings: readonly Finding[]): string {
  const numbers = new Map<string, number>();
  const places = new Map<string, string>();
  let masked = "";
  let from = 0;
  for (const { start, end, type } of findings) {
    const value = `${type} ${text.slice(start, end)}`;
    if (!places.has(value)) {
      const number = (numbers.get(type) ?? 0) + 1;
      numbers.set(type, number);
      places.set(value, `‹${type.toUpperCase()}_${number}›`);
    }
    masked += text.slice(from, start) + places.get(value);
    from = end;
  }
  return masked + text.slice(from);
}

/** `hostOnly`: the path of a webhook's URL may be a secret of the installation. */
function shownCheck(check: GuardrailRecord["check"], hostOnly: boolean): GuardrailRecord["check"] {
  return check.kind === "webhook" && hostOnly ? { ...check, url: new URL(check.url).origin } : check;
}
