import { Alert, Fieldset, Radio, Select, Skeleton, Stack, Switch, TextInput } from "@mantine/core";
import { type ConsoleGuardrail, everyWorkspace } from "@sluice/contract";
import { guardrailActions, guardrailChecks } from "@sluice/contract/words";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { useCall } from "../../api/use-call.ts";
import { Drawer } from "../../components/drawer.tsx";
import { FormDrawer, wrongField } from "../../components/form-drawer.tsx";
import { ManagedByFileNote } from "../../components/managed-by-file.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/guardrails.ts";
import { RehearseButton } from "../rehearsals/button/rehearse-button.tsx";
import { CheckFields } from "./check-fields.tsx";
import {
  blockedBy,
  bodyOf,
  emptyGuardrail,
  findsPlaces,
  type GuardrailDraft,
  guardrailDraftOf,
  mayMask,
  rehearsedGuardrail,
  templates,
  withKind,
} from "./guardrail-draft.ts";
import { MoreFields } from "./more-fields.tsx";
import { PlaceField, ScopeFields } from "./scope-fields.tsx";
import { TryBox } from "./try-box.tsx";

interface GuardrailDrawerProps {
  /** Its id; null: a new one. */
  readonly id: string | null;
  /** Its workspace, or the one to create it in: a slug; null: the installation. */
  readonly workspace: string | null;
  readonly onClose: () => void;
}

/** Loads the guardrail from its own place, since a workspace sees only a part of an inherited one. */
export function GuardrailDrawer({ id, workspace, onClose }: GuardrailDrawerProps) {
  const params = { workspace: workspace ?? everyWorkspace, guardrail: id ?? "" };
  const query = useCall("guardrails.show", { params, enabled: id !== null, staleMs: 0 });
  if (id === null) return <GuardrailForm guardrail={null} workspace={workspace} onClose={onClose} />;
  if (query.data === undefined || query.isFetching) {
    return (
      <Drawer opened onClose={onClose} title={t("guardrails.guardrail")} size="lg" asks={false}>
        {query.error === null ? (
          <Skeleton height={320} aria-busy="true" />
        ) : (
          <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
        )}
      </Drawer>
    );
  }
  return <GuardrailForm guardrail={query.data} workspace={workspace} onClose={onClose} />;
}

interface GuardrailFormProps extends Omit<GuardrailDrawerProps, "id"> {
  readonly guardrail: ConsoleGuardrail | null;
}

function GuardrailForm({ guardrail, workspace, onClose }: GuardrailFormProps) {
  const [draft, setDraft] = useState<GuardrailDraft>(() =>
    guardrail === null ? emptyGuardrail(workspace) : guardrailDraftOf(guardrail),
  );
  const change = (changes: Partial<GuardrailDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const settings = {
    inline: true,
    invalidates: ["guardrails.list", "guardrails.show"] as const,
    onDone: onClose,
  };
  const create = useAct("guardrails.create", { ...settings, done: t("guardrails.created") });
  const update = useAct("guardrails.update", { ...settings, done: t("guardrails.saved") });
  const act = guardrail === null ? create : update;
  const locked = guardrail !== null && guardrail.managed_by !== "console";
  const submit = () => {
    const place = draft.workspace ?? everyWorkspace;
    const body = bodyOf(draft);
    if (guardrail === null) create.mutate({ params: { workspace: place }, body });
    else update.mutate({ params: { workspace: place, guardrail: guardrail.id }, body });
  };
  return (
    <FormDrawer
      opened
      title={titleOf(guardrail, locked)}
      verb={guardrail === null ? t("guardrails.create") : t("guardrails.save")}
      onClose={onClose}
      onSubmit={submit}
      saving={act.isPending}
      problem={act.error}
      blocked={blockedBy(draft)}
      locked={locked}
      actions={<RehearseButton change={rehearsedGuardrail(draft, guardrail)} workspace={draft.workspace} />}
    >
      {guardrail !== null && <ManagedByFileNote by={guardrail.managed_by} />}
      <Fieldset variant="unstyled" disabled={locked}>
        <Stack gap="md">
          {guardrail === null && (
            <>
              <TemplateField draft={draft} onChange={setDraft} />
              <PlaceField draft={draft} onChange={change} />
            </>
          )}
          <TextInput
            label={t("guardrails.form.name")}
            description={t("guardrails.form.nameHelp")}
            required
            maxLength={63}
            spellCheck={false}
            value={draft.name}
            error={wrongField(act.error, "name")}
            onChange={(event) => change({ name: event.currentTarget.value })}
          />
          <Select
            label={t("guardrails.form.kind")}
            description={t(`guardrails.kindHelp.${draft.kind}`)}
            data={guardrailChecks.map((kind) => ({ value: kind, label: t(`guardrails.kinds.${kind}`) }))}
            value={draft.kind}
            onChange={(value) =>
              change(withKind(draft, guardrailChecks.find((kind) => kind === value) ?? "credentials"))
            }
            allowDeselect={false}
          />
          <CheckFields draft={draft} onChange={change} problem={act.error} />
          <ActionField draft={draft} onChange={change} />
          <ScopeFields draft={draft} onChange={change} />
          <Switch
            label={t("guardrails.form.enforce")}
            description={t("guardrails.form.enforceHelp")}
            checked={draft.enforce}
            onChange={(event) => change({ enforce: event.currentTarget.checked })}
          />
          <Switch
            label={t("guardrails.form.enabled")}
            checked={draft.enabled}
            onChange={(event) => change({ enabled: event.currentTarget.checked })}
          />
          <MoreFields draft={draft} onChange={change} />
        </Stack>
      </Fieldset>
      {findsPlaces(draft.kind) && !locked && (
        <Fieldset legend={t("guardrails.try.title")}>
          <TryBox draft={draft} />
        </Fieldset>
      )}
      {!locked && <Warning draft={draft} />}
    </FormDrawer>
  );
}

function titleOf(guardrail: ConsoleGuardrail | null, locked: boolean): string {
  if (guardrail === null) return t("guardrails.create");
  const { name } = guardrail;
  return locked ? t("guardrails.viewOf", { name }) : t("guardrails.editOf", { name });
}

interface TemplateFieldProps {
  readonly draft: GuardrailDraft;
  readonly onChange: (draft: GuardrailDraft) => void;
}

/** Fills the form with the values of a template. */
function TemplateField({ draft, onChange }: TemplateFieldProps) {
  const [chosen, setChosen] = useState<(typeof templates)[number]>("credentials");
  return (
    <Radio.Group
      label={t("guardrails.form.template")}
      value={chosen}
      onChange={(value) => {
        const template = templates.find((each) => each === value) ?? "none";
        setChosen(template);
        onChange(emptyGuardrail(draft.workspace, template));
      }}
    >
      <Stack gap="xs" mt="xs">
        {templates.map((template) => (
          <Radio
            key={template}
            value={template}
            label={t(`guardrails.form.templates.${template}`)}
            description={t(`guardrails.form.templateHelp.${template}`)}
            size="sm"
          />
        ))}
      </Stack>
    </Radio.Group>
  );
}

function ActionField({
  draft,
  onChange,
}: {
  readonly draft: GuardrailDraft;
  readonly onChange: (changes: Partial<GuardrailDraft>) => void;
}) {
  const canMask = mayMask(draft.kind);
  return (
    <Radio.Group
      label={t("guardrails.form.action")}
      value={draft.action}
      onChange={(value) => onChange({ action: guardrailActions.find((each) => each === value) ?? "block" })}
    >
      <Stack gap="xs" mt="xs">
        {guardrailActions.map((action) => (
          <Radio
            key={action}
            value={action}
            label={t(`guardrails.actions.${action}`)}
            description={
              action === "mask" && !canMask ? t("guardrails.form.noMask") : t(`guardrails.actionHelp.${action}`)
            }
            disabled={action === "mask" && !canMask}
            size="sm"
          />
        ))}
      </Stack>
    </Radio.Group>
  );
}

/** Warns that saving affects every call. */
function Warning({ draft }: { readonly draft: GuardrailDraft }) {
  if (draft.scope !== "all" || !draft.enabled || !draft.enforce) return null;
  const { workspace, action } = draft;
  const helps = { block: "warnBlock", mask: "warnMask", flag: "warnFlag" } as const;
  return (
    <Alert
      color={action === "flag" ? "gray" : "yellow"}
      variant="light"
      icon={<IconAlertTriangle size={16} />}
      title={workspace === null ? t("guardrails.form.warnAll") : t("guardrails.form.warnWorkspace", { workspace })}
    >
      {t(`guardrails.form.${helps[action]}`)}
    </Alert>
  );
}
