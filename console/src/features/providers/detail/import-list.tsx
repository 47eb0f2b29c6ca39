import { Button, Checkbox, Group, Skeleton, Stack, Text } from "@mantine/core";
import type { ConsoleModel, UpstreamModel } from "@sluice/contract";
import { useMemo, useState } from "react";
import { formatCount } from "../../../client/format.ts";
import { FilterBar } from "../../../components/filter-bar.tsx";
import { SearchBox } from "../../../components/search-box.tsx";
import { t } from "../../../language/areas/providers.ts";
import { useUrlSearch } from "../../../routes/search.ts";
import { modelTypes, typeWords } from "../../catalog/price-words.ts";
import { allToggled, type Choice, choosable, fittingModels } from "./import-choice.ts";
import { ImportRow } from "./import-row.tsx";

interface ImportListProps {
  readonly provider: string;
  /** null while it loads. */
  readonly upstream: readonly UpstreamModel[] | null;
  readonly models: ReadonlyMap<string, ConsoleModel>;
  readonly choice: Choice;
  readonly onChoice: (change: (before: Choice) => Choice) => void;
}

/** How many rows to render at first, and per click, because an account may have thousands. */
const drawnAtFirst = 100;

/** The models of an account, with checkboxes; selected ones can be renamed. */
export function ImportList({ provider, upstream, models, choice, onChoice }: ImportListProps) {
  const search = useUrlSearch();
  const [drawn, setDrawn] = useState(drawnAtFirst);
  const found = useMemo(() => (upstream === null ? null : fittingModels(upstream, search)), [upstream, search]);
  return (
    <>
      <div className="list-head">
        <FilterBar filters={filters} alsoClears={["find"]}>
          <SearchBox label={t("providers.import.find")} placeholder={t("providers.import.findHelp")} name="find" />
        </FilterBar>
        <ChooseAll
          provider={provider}
          found={found}
          all={upstream?.length ?? 0}
          models={models}
          choice={choice}
          onChoice={onChoice}
        />
      </div>
      {found === null ? (
        <Waiting />
      ) : (
        <ul className="import-list" aria-label={t("providers.import.list")}>
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
          {upstream?.length === 0 ? t("providers.import.none") : t("providers.import.noMatch")}
        </Text>
      )}
      {found !== null && found.length > drawn && (
        <div className="table-more">
          <Button variant="subtle" onClick={() => setDrawn(drawn + drawnAtFirst)}>
            {t("providers.import.more", { count: Math.min(drawnAtFirst, found.length - drawn) })}
          </Button>
        </div>
      )}
    </>
  );
}

interface ChooseAllProps extends Omit<ImportListProps, "upstream"> {
  /** null while they load. */
  readonly found: readonly UpstreamModel[] | null;
  readonly all: number;
}

/** Skips models that are already served, so that the selection can be imported. */
function ChooseAll({ provider, found, all, models, choice, onChoice }: ChooseAllProps) {
  const open = useMemo(() => choosable(provider, found ?? [], models), [provider, found, models]);
  const chosen = open.filter((model) => choice.has(model.id)).length;
  const isAll = open.length > 0 && chosen === open.length;
  const skipped = (found?.length ?? 0) - open.length;
  return (
    <Group justify="space-between" gap="xs">
      <Checkbox
        size="xs"
        label={t("providers.import.all")}
        disabled={open.length === 0}
        checked={isAll}
        indeterminate={chosen > 0 && !isAll}
        onChange={() => onChoice((before) => allToggled(before, open))}
      />
      <Text size="xs" c="dimmed" aria-live="polite">
        {isAll && skipped > 0 && `${t("providers.import.skipped", { count: skipped })} · `}
        {found === null
          ? t("providers.import.loading")
          : t("providers.import.count", { shown: formatCount(found.length), all: formatCount(all) })}
      </Text>
    </Group>
  );
}

function Waiting() {
  return (
    <Stack gap="xs" p="md" aria-busy>
      {[70, 45, 60, 50, 65].map((width) => (
        <Skeleton key={width} height={18} width={`${width}%`} />
      ))}
    </Stack>
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
    label: t("providers.import.served"),
    choices: [
      { value: "no", label: t("providers.import.notServed") },
      { value: "yes", label: t("providers.import.servedAlready") },
    ],
  },
];
