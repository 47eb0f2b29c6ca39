import type { BackgroundResponses } from "#relay/index.ts";
import type { CallParts } from "../src/main/open-calls.ts";
import { callerMemory } from "./caller-memory.ts";
import { silentExplainer } from "./silent-explainer.ts";
import { noWorkload } from "./workload-fixture.ts";

/** Parts for tests about something else: nothing is stored, explained, run in the background or probed. */
export function quietCallParts() {
  return {
    memory: callerMemory(),
    background: () => noResponses,
    sharesAccount: () => false,
    files: () => ({
      find: async () => [],
      open: () => Promise.reject(new Error("there are no files")),
      copies: { at: () => Promise.reject(new Error("there are no files")) },
    }),
    guardrails: {
      secretOf: () => "secret of the tests",
      seal: () => "sealed",
      unseal: () => null,
      cpuMs: () => 0,
      checkMsMax: () => 20,
      webhook: () => Promise.reject(new Error("no guardrail has a webhook")),
      onRecords() {},
    },
    objectStore: { find: async () => [], list: async () => [], put: async () => undefined },
    explainer: silentExplainer,
    offload: null,
    probes: false,
    workload: noWorkload,
    onShadowDenial() {},
  } satisfies Partial<CallParts>;
}

const noResponses: BackgroundResponses = { hold: async () => undefined, refresh: async () => undefined };
