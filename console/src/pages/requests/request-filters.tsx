import { outcomes } from "@sluice/contract";
import { FilterBar } from "../../parts/filter-bar.tsx";
import { SearchBox } from "../../parts/search-box.tsx";
import { outcomeWords } from "../../requests/outcome.tsx";
import { requestFilters } from "../../requests/request-query.ts";
import { GroupFilter } from "./group-filter.tsx";
import { KeyFilter } from "./key-filter.tsx";
import { ModelFilter } from "./model-filter.tsx";
import { MoreFilters } from "./more-filters.tsx";
import { ProviderFilter } from "./provider-filter.tsx";

const outcomeFilter = {
  name: "outcome",
  label: "Outcome",
  choices: [
    { value: "unsuccessful", label: "Not succeeded" },
    ...outcomes.map((outcome) => ({ value: outcome, label: outcomeWords[outcome] })),
  ],
};
const filters = [outcomeFilter];
const others = requestFilters.filter((name) => name !== "outcome");

export function RequestFilters() {
  return (
    <FilterBar filters={filters} alsoClears={others}>
      <SearchBox label="Find a request" placeholder="Request, attempt or upstream id" />
      <ModelFilter />
      <KeyFilter />
      <ProviderFilter />
      <GroupFilter />
      <MoreFilters />
    </FilterBar>
  );
}
