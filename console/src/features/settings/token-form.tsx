import { Select, TextInput } from "@mantine/core";
import type { AnswerOf, BodyInput, RouteId } from "@sluice/contract";
import type { ReactNode } from "react";
import { useAct } from "../../api/use-act.ts";
import { FormDrawer } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/settings.ts";
import { type Faults, useFaults } from "../catalog/use-faults.ts";
import { lifeChoices, lives, type NamedDraft } from "./token-draft.ts";

export type CreatedToken = AnswerOf<"tokens.create">;

export interface TokenFormHandlers {
  readonly onClose: () => void;
  readonly onCreated: (made: CreatedToken) => void;
}

interface TokenFormProps extends TokenFormHandlers {
  readonly title: string;
  readonly verb: string;
  readonly words: { readonly nameHelp: string; readonly nameExample: string; readonly lifeHelp: string };
  readonly draft: NamedDraft;
  readonly onChange: (changes: Partial<NamedDraft>) => void;
  /** Validation errors by field. */
  readonly faults: Faults;
  readonly body: () => BodyInput<"tokens.create">;
  /** Routes to refetch after a token was created. */
  readonly invalidates: readonly RouteId[];
  /** The scope and role fields. `faultOf` returns the error of a field. */
  readonly children: (faultOf: (field: string) => string | null) => ReactNode;
}

/** The form of a token: name, permissions and expiry. */
export function TokenForm(props: TokenFormProps) {
  const { title, verb, words, draft, onChange, body, invalidates, children, onClose, onCreated } = props;
  const create = useAct("tokens.create", { inline: true, invalidates, onDone: onCreated });
  const faults = useFaults(props.faults, create.error);
  return (
    <FormDrawer
      opened
      title={title}
      verb={verb}
      onClose={onClose}
      onSubmit={() => faults.check() && create.mutate({ body: body() })}
      saving={create.isPending}
      problem={create.error}
    >
      <TextInput
        label={t("settings.name")}
        description={words.nameHelp}
        placeholder={words.nameExample}
        withAsterisk
        data-autofocus
        maxLength={256}
        error={faults.of("name")}
        value={draft.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      {children(faults.of)}
      <Select
        label={t("settings.expires")}
        description={words.lifeHelp}
        data={lifeChoices()}
        value={draft.life}
        onChange={(value) => onChange({ life: lives.find(({ id }) => id === value)?.id ?? draft.life })}
        allowDeselect={false}
        error={faults.of("expires_at")}
      />
    </FormDrawer>
  );
}
