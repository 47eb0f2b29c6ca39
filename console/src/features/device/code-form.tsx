import { Button, Group, Stack, TextInput } from "@mantine/core";
import type { WaitingAgent } from "@sluice/contract";
import { type FormEvent, useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { FormProblem } from "../../components/form-problem.tsx";
import { wrongField } from "../../components/wrong-field.ts";
import { t } from "../../language/areas/device.ts";

interface CodeFormProps {
  /** The code from the link, filled in but not sent. */
  readonly suggested: string;
  readonly onFound: (waiting: WaitingAgent) => void;
}

/** The code as the device shows it. */
export function CodeForm({ suggested, onFound }: CodeFormProps) {
  const [code, setCode] = useState(suggested);
  const lookup = useAct("agents.findDevice", { inline: true, onDone: onFound });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    lookup.mutate({ body: { code } });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label={t("device.code")}
          description={t("device.codeHelp")}
          placeholder={t("device.codeExample")}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          error={wrongField(lookup.error, "code")}
          maxLength={12}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          required
          autoFocus
        />
        <FormProblem problem={lookup.error} />
        <Group justify="flex-end">
          <Button type="submit" loading={lookup.isPending} disabled={code.trim() === ""}>
            {t("device.next")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
