import { until } from "../../../test/until.ts";
import type { SignedInUser } from "../signed-in-user.ts";

/** Rehearses a lower limit of acme and another price and guardrails. Resolves to the id of the rehearsal. */
export async function createRehearsal({ call }: SignedInUser): Promise<string> {
  const { id } = await call("rehearsals.create", {
    body: {
      change: {
        workspaces: [{ slug: "acme", limits: { rpm: 2 } }],
        models: [
          { name: "gpt-5", price: { input: 2.5, output: 20 } },
          { name: "gpt-5-mini", deployments: [{ provider: "lab-cluster" }] },
        ],
        guardrails: [
          { name: "no-mail", check: { kind: "personal_data", types: ["email"] }, action: "block" },
          { name: "judge", check: { kind: "moderation", model: "omni-moderation" }, action: "flag", enforce: false },
        ],
      },
    },
  });
  await until(async () => (await call("rehearsals.get", { params: { rehearsal: id } })).result);
  return id;
}
