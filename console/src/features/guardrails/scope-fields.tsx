import { Group, MultiSelect, Pill, Radio, Select, Stack, Text } from "@mantine/core";
import { everyWorkspace } from "@sluice/contract";
import { useState } from "react";
import { useCall } from "../../api/use-call.ts";
import { t } from "../../language/areas/guardrails.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspaceChoices } from "../../session/workspace-choices.ts";
import { KeySelect } from "../keys/key-select.tsx";
import type { GuardrailFieldsProps } from "./guardrail-draft.ts";

/** The owner of a new guardrail: a workspace that the user manages or, for administrators, the installation. */
export function PlaceField({ draft, onChange }: GuardrailFieldsProps) {
  const { user, may } = useSession();
  const places = useWorkspaceChoices()
    .filter(({ slug }) => may("admin", slug))
    .map(({ slug, name }) => ({ value: slug, label: name }));
  const installation = { value: everyWorkspace, label: t("guardrails.form.installation") };
  return (
    <Select
      label={t("guardrails.form.where")}
      data={user.administrator ? [installation, ...places] : places}
      value={draft.workspace ?? everyWorkspace}
      onChange={(place) =>
        onChange({ workspace: place === everyWorkspace ? null : place, workspaces: [], groups: [], keys: [] })
      }
      allowDeselect={false}
      searchable
    />
  );
}

/** The calls that the guardrail applies to. */
export function ScopeFields({ draft, onChange }: GuardrailFieldsProps) {
  return (
    <Stack gap="sm">
      <Radio.Group
        label={t("guardrails.form.scope")}
        value={draft.scope}
        onChange={(scope) => onChange({ scope: scope === "some" ? "some" : "all" })}
      >
        <Group gap="lg" mt="xs">
          <Radio value="all" label={t("guardrails.form.scopeAll")} />
          <Radio value="some" label={t("guardrails.form.scopeSome")} />
        </Group>
      </Radio.Group>
      {draft.scope === "some" &&
        (draft.workspace === null ? (
          <WorkspacesField draft={draft} onChange={onChange} />
        ) : (
          <OwnFields draft={draft} onChange={onChange} workspace={draft.workspace} />
        ))}
    </Stack>
  );
}

/** The console chooses workspaces; groups and keys of an installation's guardrail come from the API or the config file. */
function WorkspacesField({ draft, onChange }: GuardrailFieldsProps) {
  const choices = useWorkspaceChoices().map(({ id, name }) => ({ value: id, label: name }));
  const others = draft.groups.length + draft.keys.length;
  return (
    <>
      <MultiSelect
        label={t("guardrails.form.workspaces")}
        data={withMissing(choices, draft.workspaces)}
        value={[...draft.workspaces]}
        onChange={(workspaces) => onChange({ workspaces })}
        searchable
      />
      {others > 0 && (
        <Text size="xs" c="dimmed">
          {t("guardrails.form.alsoNamed", { count: others })}
        </Text>
      )}
    </>
  );
}

function OwnFields({ draft, onChange, workspace }: GuardrailFieldsProps & { readonly workspace: string }) {
  const groups = useCall("groups.list", { params: { workspace } }).data?.data ?? [];
  const [adding, setAdding] = useState(0);
  return (
    <>
      <MultiSelect
        label={t("guardrails.form.groups")}
        data={withMissing(
          groups.map(({ id, name }) => ({ value: id, label: name })),
          draft.groups,
        )}
        value={[...draft.groups]}
        onChange={(next) => onChange({ groups: next })}
        searchable
      />
      <KeySelect
        // Empties the field after each choice.
        key={adding}
        workspace={workspace}
        label={t("guardrails.form.addKey")}
        value={null}
        onChange={(id) => {
          if (id !== null) onChange({ keys: [...new Set([...draft.keys, id])] });
          setAdding(adding + 1);
        }}
      />
      {draft.keys.length > 0 && (
        <Pill.Group aria-label={t("guardrails.form.keys")} role="group">
          {draft.keys.map((id) => (
            <KeyPill
              key={id}
              id={id}
              workspace={workspace}
              onRemove={() => onChange({ keys: draft.keys.filter((each) => each !== id) })}
            />
          ))}
        </Pill.Group>
      )}
    </>
  );
}

interface KeyPillProps {
  readonly id: string;
  readonly workspace: string;
  readonly onRemove: () => void;
}

function KeyPill({ id, workspace, onRemove }: KeyPillProps) {
  const name = useCall("keys.show", { params: { workspace, key: id } }).data?.name ?? id;
  return (
    <Pill
      withRemoveButton
      onRemove={onRemove}
      removeButtonProps={{
        ...{ "aria-label": t("guardrails.form.removeKey", { name }), "aria-hidden": false, tabIndex: 0 },
      }}
    >
      {name}
    </Pill>
  );
}

/** Chosen objects that were deleted stay visible, so that they can be removed. */
function withMissing(
  choices: readonly { readonly value: string; readonly label: string }[],
  chosen: readonly string[],
) {
  const values = new Set(choices.map(({ value }) => value));
  return [...choices, ...chosen.filter((id) => !values.has(id)).map((id) => ({ value: id, label: id }))];
}
