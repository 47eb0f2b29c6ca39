import { Textarea } from "@mantine/core";
import { t } from "../../language/areas/playground.ts";

interface MoreFieldProps {
  /** JSON parameters for this model type. */
  readonly placeholder: string;
  readonly value: string;
  readonly error: string | null;
  readonly onChange: (value: string) => void;
}

/** Parameters that the form has no field for, as JSON. */
export function MoreField({ onChange, ...rest }: MoreFieldProps) {
  return (
    <Textarea
      label={t("playground.settings.more")}
      description={t("playground.settings.moreHelp")}
      autosize
      minRows={1}
      maxRows={10}
      className="written"
      spellCheck={false}
      onChange={(event) => onChange(event.currentTarget.value)}
      {...rest}
    />
  );
}
