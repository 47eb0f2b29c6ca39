import { Radio, Select, Stack, Text } from "@mantine/core";
import type { ConsoleKey, LeaverKeys, Person } from "@sluice/contract";
import { useEffect, useState } from "react";
import { useCall } from "../../api/use-call.ts";
import { t } from "../../language/areas/people.ts";

interface LeaverKeysProps {
  readonly leaver: Person;
  /** A slug, or `-` for every workspace. */
  readonly workspace: string;
  /** Told whenever the choice changes; undefined while there is none to be sent. */
  readonly onChoice: (choice: LeaverKeys | undefined) => void;
}

type Way = "revoke" | "disable" | "hand-over";

const shownMax = 6;

/** Asks what becomes of the API keys of somebody who leaves, and shows which they are. Nothing when there are none. */
export function LeaverKeysChoice({ leaver, workspace, onChoice }: LeaverKeysProps) {
  const [way, setWay] = useState<Way>("revoke");
  const [heir, setHeir] = useState<string | null>(null);
  const found = useCall("keys.list", { params: { workspace }, query: { made_by: leaver.id, limit: 200 }, staleMs: 0 });
  const keys = (found.data?.data ?? []).filter((key) => key.state !== "revoked" && key.managed_by === "console");
  const some = keys.length > 0 || (found.data?.next ?? null) !== null;
  useEffect(() => {
    const handed = heir === null ? undefined : { hand_over_to: heir };
    onChoice(some ? (way === "hand-over" ? handed : way) : undefined);
  }, [some, way, heir, onChoice]);
  if (!some) return null;
  return (
    <Stack gap="sm">
      <Text size="sm">
        {leaver.name || leaver.email} made <b>{keysWords(keys, found.data?.next !== null)}</b>. Programs may still use
        them, and whoever has their secrets.
      </Text>
      <Radio.Group
        label={t("people.whatBecomesOfTheseKeys")}
        value={way}
        onChange={(value) => setWay(value === "disable" || value === "hand-over" ? value : "revoke")}
      >
        <Stack gap="xs" mt={6}>
          <Radio
            value="revoke"
            size="sm"
            label={t("people.revokeThem")}
            description={t("people.refusedAtOnceForGood")}
          />
          <Radio
            value="disable"
            size="sm"
            label={t("people.disableThem")}
            description={t("people.refusedAtOnceUntilAn")}
          />
          <Radio
            value="hand-over"
            size="sm"
            label={t("people.handThemOver")}
            description={t("people.theyGoOnRotateThose")}
          />
        </Stack>
      </Radio.Group>
      {way === "hand-over" && <Heir leaver={leaver} workspace={workspace} value={heir} onChange={setHeir} />}
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
      label={t("people.toWhom")}
      placeholder={t("people.chooseSomebody")}
      data={people
        .filter((person) => person.id !== leaver.id && !person.disabled)
        .map(({ id, name, email }) => ({ value: id, label: name === "" ? email : `${name} (${email})` }))}
      value={value}
      onChange={onChange}
      searchable
      required
      withAsterisk={false}
    />
  );
}

function keysWords(keys: readonly ConsoleKey[], more: boolean): string {
  const names = keys.slice(0, shownMax).map((key) => key.name);
  const rest = keys.length - names.length;
  const count =
    keys.length === 1 && !more ? t("people.anApiKey") : `${more ? "more than " : ""}${keys.length} API keys`;
  return `${count}: ${names.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
