import type { Simulator } from "@sluice/simulator";

/** The upstream behind the kind `demo`. It plays every vendor, which is much code: nothing of it is there until it is asked for. */
export function openDemoUpstream() {
  let loading: Promise<Simulator> | null = null;
  const loaded = (): Promise<Simulator> => {
    loading ??= load();
    return loading;
  };
  return {
    fetch: async (request: Request): Promise<Response> => (await loaded()).fetch(request),
    /** Loads it before its first call. */
    prepare: async (): Promise<void> => void (await loaded()),
  };
}

async function load(): Promise<Simulator> {
  const { createSimulator } = await import("@sluice/simulator");
  const { providerKind } = await import("#providers/index.ts");
  // The demo answers everybody alike: what a caller writes is no script for it.
  return createSimulator({
    // An import from the demo offers a model of each type.
    models: providerKind("demo")?.starterModels?.map(({ name }) => name) ?? [],
    defaults: { event_ms: 25 },
    obeysRequests: false,
    truthRecordsMax: 1,
    filesUrl: "demo://simulator",
  });
}
