import { Group, NativeSelect, Radio, Select, Stack, Text } from "@mantine/core";
import { type ConsoleKey, decidedKeysMax, type KeyWithUsage, type LeaverKeys, type Person } from "@sluice/contract";
import { useEffect, useMemo, useState } from "react";
import { useCall } from "../../api/use-call.ts";
import { usePages } from "../../api/use-pages.ts";
import { When } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Rich, t } from "../../language/areas/people.ts";
import { KeyStatus } from "../keys/key-status.tsx";
import { decisionsOf, type KeyAction, keyActions, relationOf } from "./leaver-decisions.ts";

/** `keys` undefined: the person has no keys to decide about. */
export interface LeaverChoice {
  readonly isComplete: boolean;
  readonly keys: LeaverKeys | undefined;
}

export const noChoice: LeaverChoice = { isComplete: false, keys: undefined };

interface LeaverKeysProps {
  readonly leaver: Person;
  /** A slug, or `-` for every workspace. */
  readonly workspace: string;
  /** Ids of workspaces where the person keeps their rights, so that nothing happens to their keys there. */
  readonly untouched?: readonly string[];
  /** Only an admin may transfer keys that count as another person's usage. */
  readonly keepsSpend?: boolean;
  readonly onChoice: (choice: LeaverChoice) => void;
}

const nowhere: readonly string[] = [];

/**
 * Lists every API key that a leaving person created or owns, and asks what happens to each. Nothing is chosen at first. Renders nothing
 * without keys.
 */
export function LeaverKeysChoice({
  leaver,
  workspace,
  untouched = nowhere,
  keepsSpend = false,
  onChoice,
}: LeaverKeysProps) {
  const query = { leaver: leaver.id, limit: 200 };
  const found = usePages("keys.list", { params: { workspace }, query, staleMs: 0, keepBefore: false });
  const { rows, more, loadingMore } = found;
  const isTooMany = more !== null && (rows?.length ?? 0) >= decidedKeysMax;
  useEffect(() => {
    if (!isTooMany && !loadingMore) more?.();
  }, [isTooMany, loadingMore, more]);
  const keys = useMemo(
    () => (more === null ? (rows?.filter((key) => !untouched.includes(key.workspace.id)) ?? null) : null),
    [rows, more, untouched],
  );
  const [actions, setActions] = useState<ReadonlyMap<string, KeyAction>>(new Map());
  const [heirs, setHeirs] = useState<ReadonlyMap<string, string>>(new Map());
  useEffect(() => {
    if (keys === null) return onChoice(noChoice);
    if (keys.length === 0) return onChoice({ isComplete: true, keys: undefined });
    const decisions = decisionsOf(keys, actions, heirs);
    onChoice(decisions === null ? noChoice : { isComplete: true, keys: decisions });
  }, [keys, actions, heirs, onChoice]);
  const name = leaver.name || leaver.email;
  if (found.problem !== null) return <ProblemAlert problem={found.problem} onRetry={() => void found.reload()} />;
  if (isTooMany) return <Text size="sm">{t("people.keys.tooMany", { name, count: decidedKeysMax })}</Text>;
  if (keys === null) return <Text size="sm">{t("people.keys.loading")}</Text>;
  if (keys.length === 0) return null;
  const act = (changed: readonly ConsoleKey[], action: KeyAction | undefined) => {
    const next = new Map(actions);
    for (const { id } of changed) {
      if (action === undefined) next.delete(id);
      else next.set(id, action);
    }
    setActions(next);
  };
  const spends = (key: ConsoleKey) => keepsSpend && key.owner?.id === leaver.id;
  return (
    <Stack gap="sm">
      <Text size="sm">
        <Rich text="people.keys.made" values={{ name, count: keys.length }} tags={{ b: (inside) => <b>{inside}</b> }} />
      </Text>
      <BulkChoice
        value={commonAction(keys, actions)}
        count={keys.length}
        isBound={keys.some(spends)}
        onChange={(action) => act(keys, action)}
      />
      <div className="leaver-keys">
        {[...Map.groupBy(keys, (key) => key.workspace.slug)].map(([slug, ofWorkspace]) => (
          <section key={slug} aria-label={slug}>
            {workspace === "-" && (
              <Text size="xs" c="dimmed" mt="xs">
                {slug}
              </Text>
            )}
            {ofWorkspace.some(({ id }) => actions.get(id) === "transfer") && (
              <Heir
                leaver={leaver}
                workspace={slug}
                value={heirs.get(slug) ?? null}
                onChange={(id) => setHeirs(new Map(heirs).set(slug, id))}
              />
            )}
            <ul className="plain-list">
              {ofWorkspace.map((key) => (
                <KeyRow
                  key={key.id}
                  item={key}
                  leaverId={leaver.id}
                  isBound={spends(key)}
                  value={actions.get(key.id)}
                  onChange={keys.length === 1 ? null : (action) => act([key], action)}
                />
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Stack>
  );
}

/** The action of all keys; null if they differ or one has none. */
function commonAction(keys: readonly ConsoleKey[], actions: ReadonlyMap<string, KeyAction>): KeyAction | null {
  const chosen = new Set(keys.map(({ id }) => actions.get(id)));
  const [only] = chosen;
  return chosen.size === 1 && only !== undefined ? only : null;
}

interface BulkChoiceProps {
  readonly value: KeyAction | null;
  readonly count: number;
  readonly isBound: boolean;
  readonly onChange: (action: KeyAction) => void;
}

function BulkChoice({ value, count, isBound, onChange }: BulkChoiceProps) {
  const help = {
    transfer: isBound ? t("people.keys.transferByAdmin") : t("people.keys.transferHelp"),
    disable: t("people.keys.disableHelp"),
    revoke: t("people.keys.revokeHelp"),
  };
  return (
    <Radio.Group
      label={t("people.keys.label", { count })}
      value={value}
      onChange={(next) => {
        const action = keyActions.find((each) => each === next);
        if (action !== undefined) onChange(action);
      }}
    >
      <Stack gap="xs" mt={6}>
        {keyActions.map((action) => (
          <Radio
            key={action}
            value={action}
            size="sm"
            disabled={action === "transfer" && isBound}
            label={t(`people.keys.all.${action}`, { count })}
            description={help[action]}
          />
        ))}
      </Stack>
    </Radio.Group>
  );
}

interface KeyRowProps {
  readonly item: KeyWithUsage;
  readonly leaverId: string;
  readonly isBound: boolean;
  readonly value: KeyAction | undefined;
  /** null: the choice for all keys is enough. */
  readonly onChange: ((action: KeyAction | undefined) => void) | null;
}

function KeyRow({ item, leaverId, isBound, value, onChange }: KeyRowProps) {
  const offered = keyActions.filter((action) => action !== "transfer" || !isBound);
  return (
    <li className="leaver-key">
      <div className="leaver-key-name">
        <span className="cut">{item.name}</span>
        <span className="leaver-key-note">
          {t(`people.keys.relation.${relationOf(item, leaverId)}`)} ·{" "}
          <Rich
            text="people.keys.lastUsed"
            values={{ time: <When at={item.last_used_at} missing={t("people.keys.neverUsed")} /> }}
          />
        </span>
      </div>
      <Group gap="xs" wrap="nowrap">
        {item.state !== "active" && <KeyStatus item={item} />}
        {onChange !== null && (
          <NativeSelect
            size="xs"
            aria-label={t("people.keys.of", { name: item.name })}
            data={[
              { value: "", label: t("people.keys.unchosen") },
              ...offered.map((action) => ({ value: action, label: t(`people.keys.one.${action}`) })),
            ]}
            value={value ?? ""}
            onChange={(event) => onChange(offered.find((action) => action === event.currentTarget.value))}
          />
        )}
      </Group>
    </li>
  );
}

interface HeirProps {
  readonly leaver: Person;
  /** A slug. */
  readonly workspace: string;
  readonly value: string | null;
  readonly onChange: (id: string) => void;
}

/** The new owner of the transferred keys of a workspace: a member who may create keys there. */
function Heir({ leaver, workspace, value, onChange }: HeirProps) {
  const members = useCall("members.list", { params: { workspace } });
  const people = (members.data?.data ?? []).filter(
    ({ id, role, disabled }) => role !== "viewer" && id !== leaver.id && !disabled,
  );
  return (
    <Select
      label={t("people.keys.newOwner", { workspace })}
      placeholder={t("people.keys.newOwnerPlaceholder")}
      nothingFoundMessage={t("people.keys.noHeir")}
      data={people.map(({ id, name, email }) => ({
        value: id,
        label: name === "" ? email : t("people.keys.person", { name, email }),
      }))}
      value={value}
      onChange={(id) => id !== null && onChange(id)}
      allowDeselect={false}
      searchable
      required
    />
  );
}
