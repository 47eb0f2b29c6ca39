import type { Simulator } from "@sluice/simulator";

/** The upstream of the kind `demo`. The simulator is large, so it is loaded at its first use. */
export function openDemoUpstream() {
  let loading: Promise<Simulator> | null = null;
  const simulator = (): Promise<Simulator> => {
    loading ??= load();
    return loading;
  };
  return {
    fetch: async (request: Request): Promise<Response> => (await simulator()).fetch(request),
    /** Loads it in advance. */
    prepare: async (): Promise<void> => void (await simulator()),
  };
}

async function load(): Promise<Simulator> {
  const { createSimulator } = await import("@sluice/simulator");
  const { providerKind } = await import("#providers/index.ts");
  return createSimulator({
    // One model of each type.
    models: providerKind("demo")?.starterModels?.map(({ name }) => name) ?? [],
    defaults: { event_ms: 25 },
    // Callers cannot script the demo.
    obeysRequests: false,
    truthRecordsMax: 1,
    filesUrl: "demo://simulator",
  });
}
