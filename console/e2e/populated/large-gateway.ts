import { type RunningSimulator, serveSimulator } from "@sluice/simulator";
import { password, type SignedInUser, signInAs } from "../signed-in-user.ts";
import { type StartedGateway, startGateway } from "../started-gateway.ts";

const modelsMany = 1_000;
const keysMany = 500;
const at60 = (text: string) => text.padEnd(60, "-and-longer-than-any-real-name");
const provider = at60("account-of-the-research-department");

export interface LargeGateway {
  readonly gateway: StartedGateway;
  readonly simulator: RunningSimulator;
  readonly ada: SignedInUser;
  /** The one provider of all models. */
  readonly provider: string;
  /** One of the many keys. */
  readonly key: string;
  stop(): Promise<void>;
}

/** A gateway with a thousand models, five hundred keys, and names of sixty characters with the same beginning. */
export async function startLargeGateway(): Promise<LargeGateway> {
  const simulator = serveSimulator();
  const email = "ada@example.com";
  const gateway = await startGateway({ administrator: { email, password }, config: configFor(simulator.url) });
  const ada = await signInAs(gateway.url, email);
  const { key } = await ada.call("keys.create", { params: { workspace: "large" }, body: { name: "created here" } });
  const stop = async () => {
    await gateway.stop();
    simulator.stop();
  };
  return { gateway, simulator, ada, provider, key: key.id, stop };
}

/** A config file is the fastest way to create these objects. */
function configFor(upstream: string): string {
  const numbers = (count: number) => Array.from({ length: count }, (_, at) => String(at).padStart(4, "0"));
  const models = numbers(modelsMany).map((at) => ({
    name: at60(`acme-research/experiment-${at}-mini`),
    deployments: [{ provider }],
    price: { input: 1, output: 2 },
  }));
  const keys = numbers(keysMany).map((at) => ({ name: at60(`pipeline-of-team-${at}`) }));
  return JSON.stringify({
    providers: [
      {
        id: provider,
        kind: "openai-compatible",
        base_url: upstream,
        allow_private_network: true,
      },
    ],
    models,
    workspaces: [
      { slug: "large", name: at60("The research department"), models: ["*"], groups: [{ name: "default" }], keys },
    ],
  });
}
