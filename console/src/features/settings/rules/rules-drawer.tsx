import { Button, Skeleton, Stack, Text } from "@mantine/core";
import type { AnswerOf } from "@sluice/contract";
import { IconPlus } from "@tabler/icons-react";
import { useRef, useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { useCall } from "../../../api/use-call.ts";
import { Drawer } from "../../../components/drawer.tsx";
import { FormDrawer } from "../../../components/form-drawer.tsx";
import { ManagedByFileNote } from "../../../components/managed-by-file.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { t } from "../../../language/areas/rules.ts";
import { useFaults } from "../../catalog/use-faults.ts";
import { draftOf, faultsOf, moved, newRule, type RuleDraft, ruleAt, rulesOf } from "./rule-draft.ts";
import { RuleRow } from "./rule-row.tsx";
import { TryClaims } from "./try-claims.tsx";

interface RulesDrawerProps {
  /** `oidc:corp`, `scim`. */
  readonly source: string;
  readonly name: string;
  readonly onClose: () => void;
}

/** The rules of one source in their order, with a test of claims. */
export function RulesDrawer(props: RulesDrawerProps) {
  const query = useCall("rights.rules", { params: { source: props.source } });
  if (query.data !== undefined) return <RulesForm {...props} stored={query.data} />;
  return (
    <Drawer opened onClose={props.onClose} title={t("rules.editOf", { source: props.name })} size="lg">
      {query.error === null ? (
        <Skeleton height={200} />
      ) : (
        <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
      )}
    </Drawer>
  );
}

const rulesMax = 500;
const noRule = -1;

interface RulesFormProps extends RulesDrawerProps {
  readonly stored: AnswerOf<"rights.rules">;
}

function RulesForm({ source, name, onClose, stored }: RulesFormProps) {
  const [before] = useState<readonly RuleDraft[]>(() => stored.rules.map(draftOf));
  const [drafts, setDrafts] = useState(before);
  /** The expanded rule. null: the first with an error. */
  const [open, setOpen] = useState<number | null>(noRule);
  const nextKey = useRef(before.length);
  const locked = stored.managed_by === "file";
  const save = useAct("rights.putRules", {
    inline: true,
    invalidates: ["rights.rules", "rights.ofUser", "users.list", "members.list"],
    done: t("rules.saved"),
    onDone: onClose,
  });
  const found = faultsOf(drafts);
  const faults = useFaults(found, save.error);
  const refused = ruleAt(Object.keys(found)[0] ?? save.error?.param);
  const shown = open ?? (refused === null ? noRule : drafts[refused]?.key);
  const check = () => {
    if (refused !== null) setOpen(null);
    return faults.check();
  };
  const submit = () => {
    if (!check()) return;
    setOpen(null);
    save.mutate({ params: { source }, body: { rules: rulesOf(drafts) } });
  };
  /** After a reorder, the gateway's errors no longer match the positions. */
  const arrange = (next: readonly RuleDraft[]) => {
    if (save.isError) save.reset();
    setDrafts(next);
  };
  const add = () => {
    nextKey.current += 1;
    arrange([...drafts, newRule(nextKey.current)]);
    setOpen(nextKey.current);
  };
  return (
    <FormDrawer
      opened
      title={t("rules.editOf", { source: name })}
      verb={t("rules.save")}
      onClose={onClose}
      onSubmit={submit}
      saving={save.isPending}
      problem={save.error}
      locked={locked}
    >
      <ManagedByFileNote by={stored.managed_by} />
      <Text fz="sm">{t("rules.order")}</Text>
      {drafts.length === 0 ? (
        <Text fz="sm" c="dimmed">
          {t("rules.none", { source: name })}
        </Text>
      ) : (
        <Stack component="ol" gap="xs" className="plain-list">
          {drafts.map((draft, index) => (
            <RuleRow
              key={draft.key}
              draft={draft}
              index={index}
              last={index === drafts.length - 1}
              locked={locked}
              opened={shown === draft.key}
              fault={faults.of}
              onToggle={() => setOpen(shown === draft.key ? noRule : draft.key)}
              onChange={(changes) =>
                setDrafts(drafts.map((each) => (each.key === draft.key ? { ...each, ...changes } : each)))
              }
              onMove={(by) => arrange(moved(drafts, index, index + by))}
              onRemove={() => arrange(drafts.filter(({ key }) => key !== draft.key))}
            />
          ))}
        </Stack>
      )}
      {!locked && (
        <Button
          variant="default"
          leftSection={<IconPlus size={14} />}
          disabled={drafts.length >= rulesMax}
          onClick={add}
          className="fit"
        >
          {t("rules.add")}
        </Button>
      )}
      {before.length > 0 && !locked && (
        <Text fz="xs" c="dimmed">
          {t("rules.removal")}
        </Text>
      )}
      <TryClaims source={source} drafts={drafts} check={check} />
    </FormDrawer>
  );
}
