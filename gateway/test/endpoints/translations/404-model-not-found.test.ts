import { missingModels } from "../passed-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

missingModels(translationsEndpoint);
