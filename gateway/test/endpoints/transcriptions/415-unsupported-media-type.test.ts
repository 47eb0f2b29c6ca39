import { otherMediaTypes } from "../passed-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

otherMediaTypes(transcriptionsEndpoint);
