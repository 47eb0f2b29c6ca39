import { Button, Checkbox, Group, Skeleton, Stack, Text } from "@mantine/core";
import type { ConsoleModel, UpstreamModel } from "@sluice/contract";
import { useMemo, useState } from "react";
import { formatCount } from "../../../client/format.ts";
import { FilterBar } from "../../../components/filter-bar.tsx";
import { SearchBox } from "../../../components/search-box.tsx";
import { t } from "../../../language/areas/providers.ts";
import { useUrlSearch } from "../../../routes/search.ts";
import { modelTypes, typeWords } from "../../catalog/price-words.ts";
import { allToggled, type Choice, fittingModels } from "./import-choice.ts";
import { ImportRow } from "./import-row.tsx";

interface ImportListProps {
  readonly provider: string;
  /** null while it loads. */
  readonly upstream: readonly UpstreamModel[] | null;
  readonly models: ReadonlyMap<string, ConsoleModel>;
  readonly choice: Choice;
  readonly onChoice: (change: (before: Choice) => Choice) => void;
}

/** An account may have thousands: so many are drawn, more when asked for. */
const drawnAtFirst = 100;

/** The models of an account, to be ticked off; those that are ticked can be named. */
export function ImportList({ provider, upstream, models, choice, onChoice }: ImportListProps) {
  const search = useUrlSearch();
  const [drawn, setDrawn] = useState(drawnAtFirst);
  const found = useMemo(() => (upstream === null ? null : fittingModels(upstream, search)), [upstream, search]);
  const allChosen = found !== null && found.length > 0 && found.every((model) => choice.has(model.id));
  const someChosen = found?.some((model) => choice.has(model.id)) === true;
  return (
    <>
      <div className="list-head">
        <FilterBar filters={filters} alsoClears={["find"]}>
          <SearchBox
            label={t("providers.findAnUpstreamModel")}
            placeholder={t("providers.partOfANameOr")}
            name="find"
          />
        </FilterBar>
        <Group justify="space-between" gap="xs">
          <Checkbox
            size="xs"
            label={t("providers.chooseAllThatAreShown")}
            disabled={found === null || found.length === 0}
            checked={allChosen}
            indeterminate={someChosen && !allChosen}
            onChange={() => found !== null && onChoice((before) => allToggled(before, found))}
          />
          <Text size="xs" c="dimmed" aria-live="polite">
            {upstream === null || found === null
              ? t("providers.askingForTheList")
              : t("providers.of", { length: formatCount(found.length), length2: formatCount(upstream.length) })}
          </Text>
        </Group>
      </div>
      {found === null ? (
        <Stack gap="xs" p="md" aria-busy>
          {[70, 45, 60, 50, 65].map((width) => (
            <Skeleton key={width} height={18} width={`${width}%`} />
          ))}
        </Stack>
      ) : (
        <ul className="import-list" aria-label={t("providers.upstreamModels")}>
          {found.slice(0, drawn).map((model) => (
            <ImportRow
              key={model.id}
              provider={provider}
              model={model}
              models={models}
              chosen={choice.get(model.id)}
              onChoice={onChoice}
            />
          ))}
        </ul>
      )}
      {found?.length === 0 && (
        <Text size="sm" c="dimmed" p="md">
          {upstream?.length === 0 ? t("providers.theAccountHasNoModels") : t("providers.noneOfTheAccountsModels")}
        </Text>
      )}
      {found !== null && found.length > drawn && (
        <div className="table-more">
          <Button variant="subtle" onClick={() => setDrawn(drawn + drawnAtFirst)}>
            {t("providers.showMore", { drawnAtFirst: Math.min(drawnAtFirst, found.length - drawn) })}
          </Button>
        </div>
      )}
    </>
  );
}

const filters = [
  {
    name: "type",
    label: t("providers.type"),
    choices: modelTypes.map((value) => ({ value, label: typeWords[value] })),
  },
  {
    name: "served",
    label: t("providers.servedHere"),
    choices: [
      { value: "no", label: t("providers.notServedYet") },
      { value: "yes", label: t("providers.servedAlready") },
    ],
  },
];
