import { Button, Group, Stack } from "@mantine/core";
import type { FormEvent, ReactNode } from "react";
import type { Problem } from "../client/problem.ts";
import { t } from "../language/areas/components.ts";
import { CloseButton } from "./close-button.tsx";
import { Drawer } from "./drawer.tsx";
import { FormProblem } from "./form-problem.tsx";
import { useOpenForm } from "./open-form.ts";

export { wrongField } from "./wrong-field.ts";

interface FormDrawerProps {
  readonly opened: boolean;
  readonly title: string;
  /** The label of the main button: "Create key". */
  readonly verb: string;
  readonly onClose: () => void;
  readonly onSubmit: () => void;
  readonly saving: boolean;
  readonly problem: Problem | null;
  /** Why the form cannot be submitted; null if it can. */
  readonly blocked?: string | null;
  /** Read-only. */
  readonly locked?: boolean;
  /** URL parameters that show the form: a change of one replaces it. */
  readonly openedBy?: readonly string[];
  /** Buttons before the main one. Not shown in a read-only form. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/**
 * A form in a drawer next to its list. Render it only while it is open, with the edited object as its `key`: its input is discarded
 * with it. A click outside does not close it, so that no input is lost by accident.
 */
export function FormDrawer(props: FormDrawerProps) {
  const {
    opened,
    title,
    verb,
    onClose,
    onSubmit,
    saving,
    problem,
    blocked = null,
    locked = false,
    openedBy = [],
    actions,
    children,
  } = props;
  useOpenForm(opened && !locked);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // A dialog inside the drawer is a separate form, but React events bubble through here.
    event.stopPropagation();
    if (blocked === null && !saving && !locked) onSubmit();
  };
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      title={title}
      size="lg"
      closeOnClickOutside={false}
      asks={!locked}
      openedBy={openedBy}
      failed={problem !== null && !saving}
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          {children}
          <FormProblem problem={problem} />
          <Group justify="flex-end" gap="xs" className="drawer-foot">
            {blocked !== null && !locked && <span className="drawer-blocked">{blocked}</span>}
            <CloseButton {...(locked ? { label: t("components.actions.close") } : {})} />
            {!locked && actions}
            {!locked && (
              <Button type="submit" loading={saving} disabled={blocked !== null}>
                {verb}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Drawer>
  );
}
