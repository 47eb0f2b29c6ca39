import { Button, ColorInput, Group, Input } from "@mantine/core";
import { useState } from "react";
import { logoFrom, logoTypes } from "../../brand/logo-image.ts";
import { FileButton } from "../../components/file-button.tsx";
import { t } from "../../language/areas/settings.ts";
import { type FieldsProps, fieldProps } from "./field-props.tsx";
import type { FormRow } from "./settings-draft.ts";

interface BrandFieldProps extends FieldsProps {
  readonly path: FormRow["path"];
  readonly label: string;
  readonly description: string;
}

/** Common colors on which white text can be read. Users can enter any other color. */
const swatches = ["#0b7285", "#1864ab", "#364fc7", "#5f3dc4", "#862e9c", "#a61e4d", "#c92a2a", "#d9480f", "#2b8a3e"];

export function ColorField({ path, label, description, ...props }: BrandFieldProps) {
  return (
    <ColorInput
      {...fieldProps(props, path, label)}
      description={description}
      placeholder={swatches[0]}
      swatches={swatches}
      swatchesPerRow={swatches.length}
      popoverProps={{ withinPortal: true }}
      eyeDropperButtonProps={{ "aria-label": t("settings.brand.pick") }}
      value={String(props.draft[path])}
      onChange={(color) => props.change({ [path]: color.toLowerCase() })}
    />
  );
}

export function LogoField({ path, label, description, ...props }: BrandFieldProps) {
  const [fault, setFault] = useState<string | null>(null);
  const logo = String(props.draft[path]);
  const { readOnly = false, ...field } = { readOnly: false, ...fieldProps(props, path, label) };
  const load = async (file: File | null) => {
    if (file === null) return;
    const text = await logoFrom(file);
    setFault(text === null ? t("settings.brand.unreadable") : null);
    if (text !== null) props.change({ [path]: text });
  };
  return (
    <Input.Wrapper {...field} description={description} error={fault ?? field.error} labelElement="div">
      <Group gap="xs" mt={4}>
        {logo !== "" && <img className="logo-preview" src={logo} alt={t("settings.brand.logoAlt")} />}
        <FileButton accept={logoTypes} onChange={(file) => void load(file)} disabled={readOnly}>
          {(button) => (
            <Button variant="default" {...button} disabled={readOnly}>
              {t("settings.brand.upload")}
            </Button>
          )}
        </FileButton>
        {logo !== "" && (
          <Button
            variant="subtle"
            disabled={readOnly}
            onClick={() => {
              setFault(null);
              props.change({ [path]: "" });
            }}
          >
            {t("settings.brand.remove")}
          </Button>
        )}
      </Group>
    </Input.Wrapper>
  );
}
