-- A number that is held free, because migrations are counted without a gap. Whoever lands 0005 removes this file in the same commit.
select 1;
