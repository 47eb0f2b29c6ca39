import { type BillLine, countIn, dayOf, decimalToNano, objectOf, objectsOf, textIn } from "../bill.ts";
import { usageLines } from "./openai.ts";

/**
 * Rows of OpenRouter's `/activity`: a day, model and endpoint each, with one cost for all tokens. Costs of calls with a key of the
 * upstream are added: Sluice charges both.
 */
export function openrouterBill(answer: unknown): readonly BillLine[] {
  return objectsOf(objectOf(answer)["data"]).flatMap((row) => {
    const day = dayOf((textIn(row, "date") ?? "").slice(0, 10));
    const model = textIn(row, "model") ?? textIn(row, "model_permaslug");
    if (day === null || model === null) return [];
    const amounts = ["usage", "byok_usage_inference"].map((name) => decimalToNano(textIn(row, name) ?? "0") ?? 0);
    const costNanoUsd = amounts.reduce((sum, amount) => sum + amount, 0);
    const place = { day, model, tier: null, requests: countIn(row, "requests") };
    return [
      ...usageLines(place, {
        input: countIn(row, "prompt_tokens") ?? 0,
        output: countIn(row, "completion_tokens") ?? 0,
      }),
      { ...place, usageClass: "all", units: null, costNanoUsd, requests: null } satisfies BillLine,
    ];
  });
}
