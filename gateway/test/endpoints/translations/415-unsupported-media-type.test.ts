import { otherMediaTypes } from "../passed-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

otherMediaTypes(translationsEndpoint);
