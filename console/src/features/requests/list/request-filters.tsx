import { outcomes } from "@sluice/contract";
import { FilterBar } from "../../../components/filter-bar.tsx";
import { SearchBox } from "../../../components/search-box.tsx";
import { t } from "../../../language/areas/requests.ts";
import { outcomeWords } from "../outcome.tsx";
import { requestFilters } from "../request-query.ts";
import { ChoiceFilter } from "./choice-filter.tsx";
import { KeyFilter } from "./key-filter.tsx";
import { ModelFilter } from "./model-filter.tsx";
import { MoreFilters } from "./more-filters.tsx";

const outcomeChoices = [
  { value: "unsuccessful", label: t("requests.outcomes.unsuccessful") },
  ...outcomes.map((outcome) => ({ value: outcome, label: outcomeWords[outcome] })),
];

export function RequestFilters() {
  return (
    <FilterBar alsoClears={requestFilters}>
      <SearchBox label={t("requests.filters.search")} placeholder={t("requests.filters.searchHint")} />
      <ModelFilter />
      <KeyFilter />
      <ChoiceFilter name="outcome" label={t("requests.filters.outcome")} choices={outcomeChoices} />
      <MoreFilters />
    </FilterBar>
  );
}
