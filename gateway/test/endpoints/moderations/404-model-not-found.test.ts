import { missingModels } from "../passed-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

missingModels(moderationsEndpoint);
