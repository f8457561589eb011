import { defineSearchAttributeKey } from '@temporalio/common';

/** What operators filter by in the Temporal UI. Never personal data: search attributes are not encrypted. */
export const ORDER_STATUS = defineSearchAttributeKey('OrderStatus', 'KEYWORD');
export const GATEWAY = defineSearchAttributeKey('Gateway', 'KEYWORD');
export const NEEDS_REVIEW = defineSearchAttributeKey('NeedsReview', 'BOOL');

/** As the server must know them before the first start: name and type in the words of the Temporal CLI. */
export const SEARCH_ATTRIBUTES = { OrderStatus: 'Keyword', Gateway: 'Keyword', NeedsReview: 'Bool' } as const;
