import { Radio, Select, Stack, Text } from "@mantine/core";
import type { ConsoleKey, LeaverKeys, Person } from "@sluice/contract";
import { useEffect, useState } from "react";
import { useCall } from "../../api/use-call.ts";
import { Rich, t } from "../../language/areas/people.ts";

interface LeaverKeysProps {
  readonly leaver: Person;
  /** A slug, or `-` for every workspace. */
  readonly workspace: string;
  /** Only an admin may transfer keys that spend in another person's name. */
  readonly keepsSpend?: boolean;
  /** Called on every change; undefined while no valid choice is made. */
  readonly onChoice: (choice: LeaverKeys | undefined) => void;
}

type KeyAction = "revoke" | "disable" | "hand-over";

const shownMax = 6;

/** Asks what to do with the API keys of a leaving person, and lists them. Renders nothing without keys. */
export function LeaverKeysChoice({ leaver, workspace, keepsSpend = false, onChoice }: LeaverKeysProps) {
  const [action, setAction] = useState<KeyAction>("revoke");
  const [heir, setHeir] = useState<string | null>(null);
  const found = useCall("keys.list", { params: { workspace }, query: { made_by: leaver.id, limit: 200 }, staleMs: 0 });
  const keys = (found.data?.data ?? []).filter((key) => key.state !== "revoked" && key.managed_by === "console");
  const bound = keepsSpend && keys.some(({ owner }) => owner?.id === leaver.id);
  const some = keys.length > 0 || (found.data?.next ?? null) !== null;
  useEffect(() => {
    const handed = heir === null ? undefined : { hand_over_to: heir };
    onChoice(some ? (action === "hand-over" ? handed : action) : undefined);
  }, [some, action, heir, onChoice]);
  if (!some) return null;
  return (
    <Stack gap="sm">
      <Text size="sm">
        <Rich
          text={found.data?.next === null ? "people.keys.made" : "people.keys.madeMany"}
          values={{ name: leaver.name || leaver.email, count: keys.length, names: namesOf(keys) }}
          tags={{ b: (inside) => <b>{inside}</b> }}
        />
      </Text>
      <Radio.Group
        label={t("people.keys.label")}
        value={action}
        onChange={(value) => setAction(value === "disable" || value === "hand-over" ? value : "revoke")}
      >
        <Stack gap="xs" mt={6}>
          <Radio value="revoke" size="sm" label={t("people.keys.revoke")} description={t("people.keys.revokeHelp")} />
          <Radio
            value="disable"
            size="sm"
            label={t("people.keys.disable")}
            description={t("people.keys.disableHelp")}
          />
          <Radio
            value="hand-over"
            size="sm"
            disabled={bound}
            label={t("people.keys.transfer")}
            description={bound ? t("people.keys.transferByAdmin") : t("people.keys.transferHelp")}
          />
        </Stack>
      </Radio.Group>
      {action === "hand-over" && <Heir leaver={leaver} workspace={workspace} value={heir} onChange={setHeir} />}
    </Stack>
  );
}

interface HeirProps {
  readonly leaver: Person;
  readonly workspace: string;
  readonly value: string | null;
  readonly onChange: (id: string | null) => void;
}

function Heir({ leaver, workspace, value, onChange }: HeirProps) {
  const everywhere = workspace === "-";
  const members = useCall("members.list", { params: { workspace }, enabled: !everywhere });
  const users = useCall("users.list", { query: { limit: 200 }, enabled: everywhere });
  const people = everywhere
    ? (users.data?.data ?? [])
    : (members.data?.data ?? []).filter((member) => member.role !== "viewer");
  return (
    <Select
      label={t("people.keys.newOwner")}
      placeholder={t("people.keys.newOwnerPlaceholder")}
      data={people
        .filter((person) => person.id !== leaver.id && !person.disabled)
        .map(({ id, name, email }) => ({
          value: id,
          label: name === "" ? email : t("people.keys.person", { name, email }),
        }))}
      value={value}
      onChange={onChange}
      searchable
      required
    />
  );
}

function namesOf(keys: readonly ConsoleKey[]): string {
  const names = keys
    .slice(0, shownMax)
    .map((key) => key.name)
    .join(", ");
  const more = keys.length - shownMax;
  return more > 0 ? t("people.keys.names", { names, more }) : names;
}
