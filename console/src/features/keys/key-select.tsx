import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { useCall } from "../../api/use-call.ts";
import { t } from "../../language/areas/keys.ts";

interface KeySelectProps {
  /** A slug. */
  readonly workspace: string;
  /** A key's id. */
  readonly value: string | null;
  readonly onChange: (id: string | null) => void;
  readonly label: string;
  readonly description?: string;
  readonly error?: string | null;
}

const offered = 30;
const quietMs = 250;

/** Selects a key of a workspace. There may be many, so the gateway searches. */
export function KeySelect({ workspace, value, onChange, label, description, error = null }: KeySelectProps) {
  const [text, setText] = useState("");
  const [asked] = useDebouncedValue(text, quietMs);
  const params = { workspace };
  const chosen = useCall("keys.show", { params: { ...params, key: value ?? "-" }, enabled: value !== null });
  const chosenName = chosen.data?.name ?? value ?? "";
  // The box contains the name of the selection, which is not a search.
  const search = asked === chosenName ? "" : asked;
  const found = useCall("keys.list", {
    params,
    query: { limit: offered, ...(search === "" ? {} : { search }) },
    keepBefore: true,
  });
  const choices = (found.data?.data ?? []).map((key) => ({ value: key.id, label: key.name }));
  const isListed = value === null || choices.some((choice) => choice.value === value);
  return (
    <Select
      label={label}
      description={description}
      placeholder={t("keys.select.placeholder")}
      data={isListed ? choices : [{ value, label: chosenName }, ...choices]}
      value={value}
      onChange={onChange}
      searchable
      searchValue={text}
      onSearchChange={setText}
      // The gateway has already searched, also by other fields than the name.
      filter={({ options }) => options}
      nothingFoundMessage={found.isFetching ? t("keys.select.loading") : t("keys.select.notFound")}
      maxLength={256}
      error={error}
    />
  );
}
