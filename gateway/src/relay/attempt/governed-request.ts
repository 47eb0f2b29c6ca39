import { outcomeOf } from "#bodies/index.ts";
import { Failure, type Provider } from "#core/index.ts";
import { choosingMembers, type Governing, type NamedModel, threadLeftOut } from "#protocols/index.ts";
import { governingFor, keepsThreads, type ProviderKind } from "#providers/index.ts";
import type { Call } from "../call.ts";
import type { RelayDependencies } from "../dependencies.ts";

export interface GovernedTarget {
  readonly provider: Provider;
  readonly kind: ProviderKind;
  readonly translated: boolean;
  readonly warn: (what: string) => void;
}

/**
 * The body as this account may get it: without what would choose a model past its grant, or cost more than its price.
 * Almost every body comes back as it is, unread. Throws Failure invalid_request or model_not_found.
 */
export function governedRequest(
  dependencies: RelayDependencies,
  call: Call,
  body: Uint8Array,
  target: GovernedTarget,
): Uint8Array | Promise<Uint8Array> {
  const governing = governingOf(dependencies, call, target);
  return governing === null ? body : withoutGoverned(dependencies, call, body, { governing, warn: target.warn });
}

/** What is not passed to this account; null for almost every body. Throws as `governedRequest`. */
export function governingOf(
  dependencies: RelayDependencies,
  { facts, mayCall }: Call,
  { provider, kind, translated }: Omit<GovernedTarget, "warn">,
): Governing | null {
  const { choosing, namedModels } = facts;
  if (namedModels !== undefined && !translated) checkNamedModels(dependencies, mayCall, namedModels, provider);
  const dropsThread = !translated && leavesThreadOut(facts, { provider, kind });
  if (choosing === undefined && !dropsThread) return null;
  // In another dialect a member may have another name.
  const names = translated ? [...choosingMembers] : (choosing ?? []);
  const governing = governingFor(provider, names, kind.memberRules ?? {});
  if (dropsThread) return { ...governing, names: [...governing.names, "thread"] };
  return governing.names.length === 0 ? null : governing;
}

/** The call begins a message thread, and this account keeps none. */
export function leavesThreadOut(
  { keeps }: Pick<Call["facts"], "keeps">,
  { provider, kind }: Pick<GovernedTarget, "provider" | "kind">,
): boolean {
  return keeps === "thread_message" && !keepsThreads(provider, kind);
}

/** Without the beta of message threads; null: no other beta is left. */
export function betasWithoutThreads(betas: string): string | null {
  const left = betas.split(",").filter((beta) => !beta.trim().startsWith("message-threads-"));
  return left.length === 0 ? null : left.join(",");
}

/** In a thread where it is large. The body that is sent may be the call's own, which is then that of the job. */
async function withoutGoverned(
  dependencies: RelayDependencies,
  call: Call,
  body: Uint8Array,
  { governing, warn }: { readonly governing: Governing; readonly warn: (what: string) => void },
): Promise<Uint8Array> {
  const own = call.body === body;
  const done = await dependencies.bodies.do("govern", governing, body, { signal: call.signal });
  if (own && call.body !== null) call.body = done.body;
  const { made, answer } = outcomeOf(done);
  for (const name of answer) {
    warn(name === "thread" ? threadLeftOut : `${name} is governed by the gateway and was left out`);
  }
  return made ?? done.body;
}

/** Another model that the body names is granted as the call's is: by a name of ours that leads to it at this account. */
function checkNamedModels(
  dependencies: RelayDependencies,
  mayCall: Call["mayCall"],
  named: readonly NamedModel[],
  provider: Provider,
): void {
  const { models } = dependencies.catalog();
  for (const { param, model: name } of named) {
    const granted = [...models.values()].some(
      (model) =>
        mayCall(model.name) &&
        model.deployments.some((one) => one.provider.id === provider.id && one.upstreamModel === name),
    );
    if (granted) continue;
    throw new Failure("model_not_found", `The model "${name.slice(0, 128)}", which ${param} names, does not exist.`, {
      param,
      retry: "other",
    });
  }
}
