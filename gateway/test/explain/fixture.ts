import type { CaptureDetail, Explanation } from "@sluice/contract";
import { type Overrides, type StartedGateway, upstream } from "../started-gateway.ts";

/** Two accounts with the same model in order of priority. `fault` is the script of the first one. */
export function twoAccounts(fault: object = {}): Overrides {
  return {
    providers: (simulator) => [upstream("main", simulator), upstream("spare", simulator)],
    models: [
      {
        name: "gpt-test",
        deployments: [
          { provider: "main", priority: 1, upstream_model: `sim${JSON.stringify(fault)}up` },
          { provider: "spare", priority: 2, upstream_model: "up" },
        ],
      },
    ],
  };
}

/** The stored explanation of the request of an answer. */
export async function explanationOf(gateway: StartedGateway, response: Response): Promise<Explanation | null> {
  await response.arrayBuffer();
  await gateway.gateway.explainer.written();
  return await gateway.gateway.explain.explanation(idOf(response));
}

export async function captureOf(gateway: StartedGateway, response: Response): Promise<CaptureDetail | null> {
  await gateway.gateway.explainer.written();
  return await gateway.gateway.explain.capture(idOf(response));
}

export function headersIn(headers: readonly (readonly [string, string])[] | undefined): Record<string, string> {
  return Object.fromEntries(headers ?? []);
}

/** The number of rows of each kind. */
export async function rowsIn(gateway: StartedGateway): Promise<{ explanations: number; captures: number }> {
  await gateway.gateway.explainer.written();
  const { kysely } = gateway.control.database;
  const explanations = await kysely.selectFrom("request_explanations").select("request_id").execute();
  const captures = await kysely.selectFrom("request_captures").select("request_id").execute();
  return { explanations: explanations.length, captures: captures.length };
}

function idOf(response: Response): string {
  const id = response.headers.get("x-request-id");
  if (id === null) throw new Error("The answer has no id.");
  return id;
}
