import type { AnswerOf, QueryInput, RouteParams } from "@sluice/contract";
import { useMutation } from "@tanstack/react-query";
import { useClient } from "../../api/call-context.tsx";
import type { Problem } from "../../client/problem.ts";
import { saveAs } from "../settings/save-as.ts";
import { peopleCsv } from "./people-csv.ts";

interface PeopleList {
  readonly params: RouteParams<"usage.people">;
  readonly query: QueryInput<"usage.people">;
}

/** The page size and the maximum of pages: more people than a directory may have. */
const pageLimit = 200;
const pagesMax = 1_000;

/** Reads every page of a list of people, and saves it as a file for spreadsheets. */
export function useSavePeople({ params, query }: PeopleList) {
  const call = useClient();
  return useMutation<void, Problem>({
    mutationFn: async () => {
      const people: AnswerOf<"usage.people">["data"] = [];
      let cursor: string | null = null;
      for (let page = 0; page < pagesMax; page++) {
        const pageQuery = { ...query, limit: pageLimit, ...(cursor === null ? {} : { cursor }) };
        const answer: AnswerOf<"usage.people"> = await call("usage.people", { params, query: pageQuery });
        people.push(...answer.data);
        cursor = answer.next;
        if (cursor === null) break;
      }
      const days = [query.from, query.to].map((at) => new Date(Number(at)).toISOString().slice(0, 10));
      saveAs(new Blob([peopleCsv(people)], { type: "text/csv" }), `people-${days.join("-to-")}.csv`);
    },
  });
}
