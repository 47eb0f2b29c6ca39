import { Badge, Button, Popover, Stack, TextInput } from "@mantine/core";
import { errorCodes } from "@sluice/contract";
import { IconAdjustmentsHorizontal } from "@tabler/icons-react";
import { type FormEvent, useEffect, useState } from "react";
import { t } from "../../../language/areas/requests.ts";
import { useUrlSearch, useUrlText } from "../../../routes/search.ts";
import { endpointWords } from "../endpoint-words.ts";
import { ChoiceFilter } from "./choice-filter.tsx";
import { GroupFilter } from "./group-filter.tsx";
import { NameFilter } from "./name-filter.tsx";
import { ProviderFilter } from "./provider-filter.tsx";

const names = ["provider", "group", "error_code", "status", "min_ms", "endpoint"] as const;
const codes = Object.keys(errorCodes);
const endpoints = Object.entries(endpointWords).map(([value, label]) => ({ value, label }));
const durations = [
  { value: "500", label: t("requests.n500MsAndLonger") },
  { value: "1000", label: t("requests.n1SAndLonger") },
  { value: "2000", label: t("requests.n2SAndLonger") },
  { value: "5000", label: t("requests.n5SAndLonger") },
  { value: "10000", label: t("requests.n10SAndLonger") },
  { value: "30000", label: t("requests.n30SAndLonger") },
  { value: "60000", label: t("requests.n1MinAndLonger") },
];

/** What is asked for less often: who answered, how it failed, how long it took, by which endpoint it came. */
export function MoreFilters() {
  const search = useUrlSearch();
  const set = names.filter((name) => (search[name] ?? "") !== "").length;
  return (
    <Popover trapFocus position="bottom-start" shadow="md" width={280}>
      <Popover.Target>
        <Button
          variant="default"
          size="sm"
          leftSection={<IconAdjustmentsHorizontal size={16} aria-hidden />}
          rightSection={set > 0 ? <Badge size="sm">{set}</Badge> : null}
        >
          {t("requests.moreFilters")}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          <ProviderFilter />
          <GroupFilter />
          <NameFilter name="error_code" label={t("requests.errorCode")} names={codes} within />
          <StatusFilter />
          <ChoiceFilter name="min_ms" label={t("requests.duration")} choices={durations} within />
          <ChoiceFilter name="endpoint" label={t("requests.endpoint")} choices={endpoints} within />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function StatusFilter() {
  const [kept, keep] = useUrlText("status");
  const [text, setText] = useState(kept);
  useEffect(() => setText(kept), [kept]);
  const wrong = text !== "" && !/^[1-5]\d\d$/.test(text);
  const commit = (event?: FormEvent) => {
    event?.preventDefault();
    if (!wrong) keep(text);
  };
  return (
    <form onSubmit={commit}>
      <TextInput
        label={t("requests.httpStatus")}
        placeholder="429"
        inputMode="numeric"
        maxLength={3}
        value={text}
        onChange={(event) => setText(event.currentTarget.value.trim())}
        onBlur={() => commit()}
        error={wrong && text.length === 3 ? t("requests.threeDigitsSuchAs429") : null}
      />
    </form>
  );
}
