import type { SignedInUser } from "../signed-in-user.ts";

const dayMs = 86_400_000;

/** Uploads a bill of a provider: usage of a model that the gateway served today, calls of another program, and a credit. */
export async function addBill({ call }: SignedInUser): Promise<void> {
  await call("providers.update", { params: { provider: "openai-main" }, body: { billing: { kind: "csv" } } });
  const day = (ago: number) => new Date(Date.now() - ago * dayMs).toISOString().slice(0, 10);
  const rows = [
    `${day(0)},gpt-5-mini,output,120,0.00036,4`,
    `${day(0)},gpt-5-mini,input,5000,0.00125,`,
    `${day(0)},gpt-6-astra,output,4000,0.2,3`,
    `${day(0)},,credit,,-0.05,`,
    `${day(1)},gpt-5-mini,output,0,0,`,
    `${day(2)},gpt-6-astra,input,90000,0.9,12`,
  ];
  const text = `day,model,class,units,cost,requests\n${rows.join("\n")}\n`;
  await call("reconciliation.upload", { params: { provider: "openai-main" }, body: { text } });
}
