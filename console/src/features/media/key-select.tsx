import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { isKeyOf } from "@sluice/contract";
import { useState } from "react";
import { useCall } from "../../api/use-call.ts";
import { t } from "../../language/areas/media.ts";
import { useSession } from "../../session/session-context.tsx";
import { useUsableKeys } from "./use-usable-keys.ts";

interface KeySelectProps {
  readonly slug: string;
  readonly value: string | null;
  readonly onChange: (key: string) => void;
  readonly label?: string;
  readonly description?: string;
  readonly withinDialog?: boolean;
}

const quietMs = 250;

/** Selects the API key to use. There may be thousands, so the gateway searches. */
export function KeySelect({
  slug,
  value,
  onChange,
  label = t("media.key.label"),
  description,
  withinDialog,
}: KeySelectProps) {
  const { user } = useSession();
  const [text, setText] = useState("");
  const [asked] = useDebouncedValue(text, quietMs);
  const chosen = useCall("keys.show", { params: { workspace: slug, key: value ?? "-" }, enabled: value !== null });
  const chosenLabel = chosen.data?.name ?? value ?? "";
  // The box contains the name of the selection, which is not a search.
  const found = useUsableKeys(slug, asked === chosenLabel ? "" : asked);
  const choices = (found.keys ?? []).map((key) => ({
    value: key.id,
    label: key.name,
    hint: [
      `${key.prefix}…${key.last_four}`,
      key.group.name,
      ...(isKeyOf(key, user.id) ? [t("media.key.yours")] : []),
    ].join(" · "),
  }));
  const isListed = value === null || choices.some((choice) => choice.value === value);
  const out = chosen.data !== undefined && chosen.data.state !== "active";
  return (
    <Select
      label={label}
      {...(description === undefined ? {} : { description })}
      data={isListed ? choices : [{ value: value ?? "", label: chosenLabel, hint: "" }, ...choices]}
      value={value}
      onChange={(next) => next !== null && onChange(next)}
      allowDeselect={false}
      searchable
      searchValue={text}
      onSearchChange={setText}
      // The gateway has already searched, also by other fields than the name.
      filter={({ options }) => options}
      renderOption={({ option }) => (
        <span className="choice-lines">
          <span className="cut">{option.label}</span>
          <span className="choice-hint cut">{"hint" in option ? String(option.hint) : ""}</span>
        </span>
      )}
      nothingFoundMessage={found.looking ? t("media.key.searching") : t("media.key.notFound")}
      maxLength={256}
      error={out ? t("media.key.refused") : null}
      {...(withinDialog === true ? { comboboxProps: { withinPortal: false } } : {})}
    />
  );
}
