import { missingModels } from "../passed-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

missingModels(transcriptionsEndpoint);
