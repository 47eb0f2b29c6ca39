import type { AnswerOf, BodyOf } from "@sluice/contract";
import { ruleFault } from "@sluice/contract/words";
import { Failure, type RightsClaimed } from "#core/index.ts";
import type { ControlStore, RightsStore } from "#directory/index.ts";
import type { RightsSource } from "#ports/index.ts";
import type { Handlers } from "./handler.ts";

export interface RightsHandlerDependencies {
  readonly rights: RightsStore;
  readonly controlStore: Pick<ControlStore, "oidcAccounts">;
  readonly onRightsKept: (problems: readonly string[]) => void;
}

/** Rules from what issuers and SCIM say of people to rights. */
export function rightsHandlers({
  rights,
  controlStore,
  onRightsKept,
}: RightsHandlerDependencies): Handlers<"rights.rules" | "rights.putRules" | "rights.try" | "rights.ofUser"> {
  const sourceOf = async (given: string): Promise<RightsSource> => {
    if (given === "scim") return given;
    const accounts = given.startsWith("oidc:") ? await controlStore.oidcAccounts() : [];
    if (accounts.some(({ id }) => `oidc:${id}` === given)) return given as RightsSource;
    throw new Failure("not_found", "There is no such source of rights.", { param: "source" });
  };
  const view = async (source: RightsSource): Promise<AnswerOf<"rights.rules">> => ({
    rules: [...(await rights.rules(source))],
    managed_by: (await rights.ownedByFile(source)) ? "file" : "console",
  });
  return {
    "rights.rules": async ({ params }) => await view(await sourceOf(params.source)),
    "rights.putRules": async ({ params, body, auditSource }) => {
      const source = await sourceOf(params.source);
      checkRules(body.rules);
      await rights.putRules(source, body.rules, auditSource);
      onRightsKept(await rights.settle());
      return await view(source);
    },
    "rights.try": async ({ params, body }) => {
      const source = await sourceOf(params.source);
      if (body.rules !== undefined) checkRules(body.rules);
      return triedView(await rights.tryClaims(body.rules ?? (await rights.rules(source)), body.claims));
    },
    "rights.ofUser": async ({ params }) => ({ data: [...(await rights.given(params.user))] }),
  };
}

function checkRules(rules: BodyOf<"rights.putRules">["rules"]): void {
  for (const [index, rule] of rules.entries()) {
    const fault = ruleFault(rule);
    if (fault === null) continue;
    throw new Failure("invalid_request", `Rule ${index + 1}: ${fault}.`, { param: `rules.${index}` });
  }
}

function triedView({ administrator, places, findings }: RightsClaimed): AnswerOf<"rights.try"> {
  return {
    administrator,
    places: [...places],
    findings: findings.map(({ number, rule, matched, gives, why }) => ({
      number,
      name: rule.name ?? null,
      matched,
      gives,
      why: { code: why.code, params: { ...why.params } },
    })),
  };
}
