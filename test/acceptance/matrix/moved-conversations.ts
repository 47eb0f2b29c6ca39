import type { Ask, Caller, Heard } from "./ask.ts";
import { scripted } from "./case.ts";
import { matrixUpstreams, modelOn, type Upstream } from "./upstreams.ts";

/**
 * Begins a tool loop at each upstream and goes on with it at every other one, as agents do whose user changes the model.
 * Tells what went wrong, a line for each pair.
 */
export async function movedConversations(caller: Caller): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const from of matrixUpstreams) {
    const ask = toolLoop(from);
    const heard = await caller.stream(ask);
    for (const to of matrixUpstreams) {
      if (from === to || isBound(caller, from, to)) continue;
      const fault = await goOn(caller, { ...ask, model: modelOn(to) }, heard);
      if (fault !== null) faults.push(`from ${from.name} to ${to.name}: ${fault}`);
    }
  }
  return faults;
}

/**
 * Bytes of the caller's own dialect pass as they are, and then it is the upstream's to say no to what another account of
 * its vendor has encrypted.
 */
function isBound({ dialect }: Caller, from: Upstream, to: Upstream): boolean {
  const encrypts = ["responses", "azure"];
  return dialect === "responses" && encrypts.includes(from.name) && encrypts.includes(to.name);
}

async function goOn(caller: Caller, ask: Ask, heard: Heard): Promise<string | null> {
  const results = heard.calls.map(({ id, name }) => ({ id, name, text: "minus four degrees" }));
  const turns = [...ask.turns, { by: "echo" as const, heard }, { by: "tools" as const, results }];
  try {
    const { text } = await caller.whole({ ...ask, turns });
    return text === " the quick brown" ? null : `said ${JSON.stringify(text)}`;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

function toolLoop(upstream: Upstream): Ask {
  const weather = {
    name: "get_weather",
    description: "Tells how warm it is.",
    parameters: { type: "object" as const, properties: { city: { type: "string" } } },
  };
  const turns = [scripted("use get_weather now", { tokens: 3, reasoning_field: "reasoning_content" })];
  return { model: modelOn(upstream), turns, tools: [weather], thinks: true };
}
