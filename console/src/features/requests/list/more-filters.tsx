import { Badge, Button, Group } from "@mantine/core";
import { errorCodes } from "@sluice/contract";
import { IconAdjustmentsHorizontal } from "@tabler/icons-react";
import { useId, useState } from "react";
import { formatDuration } from "../../../client/format.ts";
import { t } from "../../../language/areas/requests.ts";
import { useUrlSearch } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { endpointWords } from "../endpoint-words.ts";
import { costPattern, statusPattern } from "../request-query.ts";
import { ChoiceFilter } from "./choice-filter.tsx";
import { GroupFilter } from "./group-filter.tsx";
import { GuardrailFilters } from "./guardrail-filters.tsx";
import { NameFilter } from "./name-filter.tsx";
import { PersonFilter } from "./person-filter.tsx";
import { ProviderFilter } from "./provider-filter.tsx";
import { TextFilter } from "./text-filter.tsx";

const names = [
  ...["provider", "group", "person", "error_code", "status", "min_ms", "endpoint"],
  ...["tag", "user_agent", "min_cost", "max_cost", "text"],
  ...["guardrail", "guardrail_verdict", "would_refuse"],
] as const;
const codes = Object.keys(errorCodes);
const endpoints = Object.entries(endpointWords).map(([value, label]) => ({ value, label }));
const durations = [500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000].map((ms) => ({
  value: String(ms),
  label: t("requests.filters.atLeast", { length: formatDuration(ms) }),
}));

/**
 * Less common filters: provider, error, duration, endpoint. They are in a separate row below the others, so that they cover neither
 * the filters nor the list.
 */
export function MoreFilters() {
  const search = useUrlSearch();
  const { may } = useWorkspace();
  const set = names.filter((name) => (search[name] ?? "") !== "").length;
  const [open, setOpen] = useState(set > 0);
  const id = useId();
  return (
    <>
      <Button
        variant="default"
        size="sm"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        leftSection={<IconAdjustmentsHorizontal size={16} aria-hidden />}
        rightSection={set > 0 ? <Badge size="sm">{set}</Badge> : null}
      >
        {open ? t("requests.filters.fewer") : t("requests.filters.more")}
      </Button>
      {open && (
        <Group id={id} gap="xs" align="flex-start" className="more-filters">
          <ProviderFilter />
          <GroupFilter />
          <PersonFilter />
          <NameFilter name="error_code" label={t("requests.filters.errorCode")} names={codes} />
          <TextFilter
            name="status"
            label={t("requests.filters.status")}
            pattern={statusPattern}
            help={t("requests.filters.statusHelp")}
            numeric
            maxLength={3}
          />
          <ChoiceFilter name="min_ms" label={t("requests.filters.duration")} choices={durations} />
          <ChoiceFilter name="endpoint" label={t("requests.filters.endpoint")} choices={endpoints} />
          <TextFilter name="tag" label={t("requests.filters.tag")} />
          <TextFilter name="user_agent" label={t("requests.filters.userAgent")} />
          <TextFilter
            name="min_cost"
            label={t("requests.filters.minCost")}
            pattern={costPattern}
            help={t("requests.filters.costHelp")}
            numeric
          />
          <TextFilter
            name="max_cost"
            label={t("requests.filters.maxCost")}
            pattern={costPattern}
            help={t("requests.filters.costHelp")}
            numeric
          />
          <GuardrailFilters />
          {may("admin") && <TextFilter name="text" label={t("requests.filters.text")} pattern={/../} />}
        </Group>
      )}
    </>
  );
}
