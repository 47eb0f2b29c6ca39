import { expect, test } from "bun:test";
import { peopleCsv } from "./people-csv.ts";

const sums = { requests: 2, failed_requests: 1, input_tokens: 30, output_tokens: 4, cost_usd: 0.5 };

test("writes one line per person; usage without a person has no id", () => {
  const ada = { id: "usr_1", email: "ada@example.com", name: "Ada" };
  expect(
    peopleCsv([
      { person: ada, ...sums },
      { person: null, ...sums },
    ]),
  ).toBe(
    "user_id,email,name,cost_usd,requests,failed_requests,input_tokens,output_tokens\n" +
      "usr_1,ada@example.com,Ada,0.5,2,1,30,4\n,,,0.5,2,1,30,4\n",
  );
});

test("names are escaped as text for spreadsheets", () => {
  for (const [name, field] of [
    ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
    ["+1", "'+1"],
    ["Lovelace, Ada", '"Lovelace, Ada"'],
    ["two\nlines", '"two\nlines"'],
  ] as const) {
    expect(peopleCsv([{ person: { id: "u", email: "e", name }, ...sums }])).toContain(`u,e,${field},`);
  }
});
