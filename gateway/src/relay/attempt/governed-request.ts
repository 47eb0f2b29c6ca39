import { type Deployment, Failure, type Provider } from "#core/index.ts";
import { choosingMembers, type Governing, type NamedModel, threadLeftOut } from "#protocols/index.ts";
import { governingFor, keepsThreads } from "#providers/index.ts";
import type { Call } from "../call.ts";
import type { AttemptParts } from "./call-tally.ts";
import type { LaneMatch } from "./lane-match.ts";
import { workOnBody } from "./work-on-body.ts";

/**
 * Members that this account does not get: they would choose a model past the grant, or cost more than its price. null for almost every
 * body. Throws Failure model_not_found.
 */
export function governingOf(parts: AttemptParts): Governing | null {
  const { call, selection, match } = parts;
  const { choosing, namedModels } = call.facts;
  const { provider } = selection.deployment;
  const { kind, translated } = match;
  if (namedModels !== undefined && !translated) checkNamedModels(parts, namedModels);
  const dropsThread = !translated && leavesThreadOut(call, match, provider);
  if (choosing === undefined && !dropsThread) return null;
  // In another dialect a member may have another name.
  const names = translated ? [...choosingMembers] : (choosing ?? []);
  const governing = governingFor(provider, names, kind.memberRules ?? {});
  if (dropsThread) return { ...governing, names: [...governing.names, "thread"] };
  return governing.names.length === 0 ? null : governing;
}

/** The call begins a message thread, and this account keeps none. */
export function leavesThreadOut({ facts }: Call, { kind }: Pick<LaneMatch, "kind">, provider: Provider): boolean {
  return facts.keeps === "thread_message" && !keepsThreads(provider, kind);
}

export function dropThreadBetas(headers: Record<string, string>, { call, match, selection }: AttemptParts): void {
  const betas = headers["anthropic-beta"];
  if (betas === undefined || !leavesThreadOut(call, match, selection.deployment.provider)) return;
  const left = betas.split(",").filter((beta) => !beta.trim().startsWith("message-threads-"));
  if (left.length === 0) delete headers["anthropic-beta"];
  else headers["anthropic-beta"] = left.join(",");
}

/** Throws Failure invalid_request. */
export async function withoutGoverned(
  { dependencies, call, warnings }: AttemptParts,
  body: Uint8Array,
  governing: Governing,
): Promise<Uint8Array> {
  const done = await workOnBody(dependencies.bodies, call, "govern", governing, { body });
  for (const name of done.answer) {
    warnings.add(name === "thread" ? threadLeftOut : `${name} is governed by the gateway and was left out`);
  }
  return done.made ?? done.body;
}

/** Other models that the body names need a grant, too: under a name of ours that leads to them at this account. */
function checkNamedModels({ dependencies, call, selection }: AttemptParts, named: readonly NamedModel[]): void {
  const { models } = dependencies.configSnapshot();
  const { id: account } = selection.deployment.provider;
  const leadsTo = ({ provider, upstreamModel }: Deployment, name: string): boolean =>
    provider.id === account && upstreamModel === name;
  for (const { param, model: name } of named) {
    const granted = [...models.values()].some(
      (model) => call.mayCall(model.name) && model.deployments.some((one) => leadsTo(one, name)),
    );
    if (granted) continue;
    throw new Failure("model_not_found", `The model "${name.slice(0, 128)}", which ${param} names, does not exist.`, {
      param,
      retry: "other",
    });
  }
}
