import { Select } from "@mantine/core";
import { meets } from "@sluice/contract";
import { useCall } from "../../api/use-call.ts";
import { personText } from "../../components/person-text.ts";
import { t } from "../../language/areas/keys.ts";

interface KeyOwnerFieldProps {
  /** A slug. */
  readonly workspace: string;
  /** User id; null: no owner. */
  readonly value: string | null;
  readonly onChange: (owner: string | null) => void;
  readonly disabled: boolean;
  readonly error: string | null;
}

/** The owner of a key: a member who may create keys, or none. The current owner stays in the list. */
export function KeyOwnerField({ workspace, value, onChange, disabled, error }: KeyOwnerFieldProps) {
  const members = useCall("members.list", { params: { workspace } });
  const choices = (members.data?.data ?? [])
    .filter((member) => member.id === value || (meets(member.role, "member") && !member.disabled))
    .map((member) => ({ value: member.id, label: personText(member) }));
  // An administrator may own one without being a member.
  if (value !== null && choices.every((choice) => choice.value !== value)) choices.push({ value, label: value });
  return (
    <Select
      label={t("keys.facts.owner")}
      description={t("keys.fields.ownerHelp")}
      placeholder={t("keys.fields.ownerNobody")}
      data={choices}
      value={value}
      onChange={onChange}
      clearable
      searchable
      limit={100}
      disabled={disabled || members.data === undefined}
      error={error ?? members.error?.message ?? null}
    />
  );
}
