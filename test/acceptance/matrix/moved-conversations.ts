import type { Caller, CallResult, CallSpec } from "./call-spec.ts";
import { scripted } from "./case.ts";
import { matrixUpstreams, modelOn, type Upstream } from "./upstreams.ts";

/**
 * Starts a tool loop at each upstream and continues it at every other one, as agents do when the user switches models.
 * Returns a description of each pair that fails.
 */
export async function movedConversations(caller: Caller): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const from of matrixUpstreams) {
    const spec = toolLoop(from);
    const result = await caller.stream(spec);
    for (const to of matrixUpstreams) {
      if (from === to || isVendorEncrypted(caller, from, to)) continue;
      const fault = await continueAt(caller, { ...spec, model: modelOn(to) }, result);
      if (fault !== null) faults.push(`from ${from.name} to ${to.name}: ${fault}`);
    }
  }
  return faults;
}

/**
 * Requests in the caller's own dialect are forwarded unchanged, so the upstream itself refuses content that another account of
 * its vendor has encrypted.
 */
function isVendorEncrypted({ dialect }: Caller, from: Upstream, to: Upstream): boolean {
  const encrypts = ["responses", "azure"];
  return dialect === "responses" && encrypts.includes(from.name) && encrypts.includes(to.name);
}

async function continueAt(caller: Caller, spec: CallSpec, result: CallResult): Promise<string | null> {
  const results = result.calls.map(({ id, name }) => ({ id, name, text: "minus four degrees" }));
  const turns = [...spec.turns, { by: "echo" as const, result }, { by: "tools" as const, results }];
  try {
    const { text } = await caller.whole({ ...spec, turns });
    return text === " the quick brown" ? null : `answered ${JSON.stringify(text)}`;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

function toolLoop(upstream: Upstream): CallSpec {
  const weather = {
    name: "get_weather",
    description: "Returns the temperature.",
    parameters: { type: "object" as const, properties: { city: { type: "string" } } },
  };
  const turns = [scripted("use get_weather now", { tokens: 3, reasoning_field: "reasoning_content" })];
  return { model: modelOn(upstream), turns, tools: [weather], thinks: true };
}
